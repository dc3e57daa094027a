"""Where a setting comes from: argument, project file, user file, environment, default.

Files are INI: `mistral_knowledge.ini` (project: the nearest upwards from the working directory) and
`config.ini` in the platform's configuration folder (user). Both may have the sections `[rag]` and
`[knowledge]`; `[rag]` of either file is more specific than `[knowledge]` of either. No file sets
the key, and a project file sets no address either: whoever hands you a folder must not be able to
have your key sent elsewhere.
"""

from __future__ import annotations

import configparser
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, TypeVar, Union

import attr

from .errors import ConfigurationError
from .transports import LONGEST, Timeout

Value = TypeVar("Value")

PROJECT_FILE = "mistral_knowledge.ini"
USER_FILE = "config.ini"
DEFAULT_MODEL = "mistral-medium-latest"
DEFAULT_BASE_URL = "https://api.mistral.ai"
DEFAULT_RETRIES = 2

_SECTIONS = ("rag", "knowledge")
_LIMITS = ("connect", "write", "first_byte", "idle", "total")
_COMMON = {"streaming", "model", "retries", *(f"timeout_{name}" for name in _LIMITS)}
_USER_ONLY = {"base_url"}
_KEYS = {"api_key", "apikey", "key", "token", "mistral_api_key"}
_ADDRESS = "MISTRAL_BASE_URL"
_VARIABLES = ("MISTRAL_RAG_STREAMING", _ADDRESS)
_OFF = frozenset({"0", "false", "off", "no"})
_ON = frozenset({"1", "true", "on", "yes"})


@attr.s(auto_attribs=True, frozen=True, slots=True)
class SettingsFile:
    """One settings file: what it is called in errors, and its values by section."""

    path: str
    sections: Mapping[str, Mapping[str, str]]


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Settings:
    """The settings of this machine and project, read once.

    project, user: the two files, where they are there
    environment: the variables that are settings; never the key, so that this can be pickled
    """

    project: Optional[SettingsFile] = None
    user: Optional[SettingsFile] = None
    environment: Mapping[str, str] = attr.ib(factory=dict, repr=False)

    @classmethod
    def load(
        cls, folder: Union[str, os.PathLike[str], None] = None, user_file: Optional[str] = None
    ) -> Settings:
        """Read the files and the environment.

        folder: where the search for the project file starts (default: the working directory)
        user_file: the user file's path (default: `config.ini` in the platform's folder)
        Raises ConfigurationError for a file that cannot be read or sets what it must not.
        """
        project = _find_upwards(Path(folder) if folder is not None else _working_directory())
        user = Path(user_file) if user_file is not None else _user_file()
        return cls(
            _read(project, _COMMON) if project else None,
            _read(user, _COMMON | _USER_ONLY) if os.path.isfile(user) else None,
            {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        )

    def streaming(self) -> bool:
        """Whether answers are streamed (default True; environment: MISTRAL_RAG_STREAMING)."""
        found = self._from_files("streaming", _boolean)
        if found is not None:
            return found
        return self.environment.get("MISTRAL_RAG_STREAMING", "").strip().lower() not in _OFF

    def model(self) -> str:
        """The model that answers (default `mistral-medium-latest`)."""
        return self._from_files("model", _text) or DEFAULT_MODEL

    def base_url(self) -> str:
        """The API's address (user file, then MISTRAL_BASE_URL, else https://api.mistral.ai)."""
        found = self._from_files("base_url", _text)
        return found or self.environment.get(_ADDRESS, "").strip() or DEFAULT_BASE_URL

    def retries(self) -> int:
        """How often a request is repeated (default 2)."""
        found = self._from_files("retries", _count)
        return DEFAULT_RETRIES if found is None else found

    def timeout(self) -> Timeout:
        """The limits (`timeout_connect`, ... in seconds, or `none`); `Timeout`'s own by default."""
        found = {name: self._from_files(f"timeout_{name}", _seconds) for name in _LIMITS}
        return Timeout(**{name: limit[0] for name, limit in found.items() if limit is not None})

    def api_key(self) -> Optional[str]:
        """MISTRAL_API_KEY, as it is now: keys rotate while programs run."""
        return os.environ.get("MISTRAL_API_KEY")

    def without_address(self) -> Settings:
        """A copy without `base_url`, which may hold a password, for what is pickled."""
        user = self.user
        if user is not None:
            kept = {name: _without(values, "base_url") for name, values in user.sections.items()}
            user = attr.evolve(user, sections=kept)
        return attr.evolve(self, user=user, environment=_without(self.environment, _ADDRESS))

    def _from_files(self, key: str, read: Callable[[str], Value]) -> Optional[Value]:
        files = [file for file in (self.project, self.user) if file is not None]
        for section in _SECTIONS:
            for file in files:
                text = file.sections.get(section, {}).get(key)
                if text is not None:
                    return _converted(file, section, key, text, read)
        return None


def _without(values: Mapping[str, str], left_out: str) -> Dict[str, str]:
    return {name: value for name, value in values.items() if name != left_out}


def _converted(
    file: SettingsFile, section: str, key: str, text: str, read: Callable[[str], Value]
) -> Value:
    try:
        return read(text.strip())
    except ValueError as error:
        raise ConfigurationError(f"{file.path}: [{section}] {key}: {error}") from None


def _boolean(text: str) -> bool:
    if text.lower() in _ON | _OFF:
        return text.lower() in _ON
    raise ValueError("it is no boolean; write true or false")


def _text(text: str) -> str:
    if not text:
        raise ValueError("it is empty")
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError("it is no number of repetitions; write 0, 1, 2, ...")
    return int(text)


def _seconds(text: str) -> Tuple[Optional[float]]:
    """The limit in a tuple, so that `none` (no limit) is told apart from not set."""
    if text.lower() == "none":
        return (None,)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST:
        raise ValueError("it is no time; write seconds above 0, or none")
    return (seconds,)


def _working_directory() -> Optional[Path]:
    try:
        return Path.cwd()
    except OSError:
        return None  # it was deleted under us


def _find_upwards(folder: Optional[Path]) -> Optional[Path]:
    if folder is None:
        return None
    folder = Path(os.path.abspath(folder))
    for place in (folder, *folder.parents):
        candidate = place / PROJECT_FILE
        if os.path.isfile(candidate):
            return candidate
    return None


def _user_file() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir("mistral_knowledge", appauthor=False)) / USER_FILE


def _read(path: Path, allowed: Any) -> SettingsFile:
    parser = configparser.ConfigParser(interpolation=None, default_section="\0")
    problem = _problem_of_reading(parser, path)
    if problem:
        raise ConfigurationError(f"{path}: {problem}")
    sections = {name: dict(parser[name]) for name in parser.sections() if name in _SECTIONS}
    _refuse_secrets(path, {name: dict(parser[name]) for name in parser.sections()})
    for section, values in sections.items():
        _refuse_unknown(path, section, values, allowed)
    return SettingsFile(str(path), sections)


def _problem_of_reading(parser: configparser.ConfigParser, path: Path) -> Optional[str]:
    # Told, not raised: ours must not be chained to errors that hold lines, perhaps a key, of it.
    try:
        parser.read_string(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        return f"it cannot be read: {type(error).__name__}"
    except configparser.Error as error:
        return f"it is no INI file ({_where(error)})"
    return None


def _where(error: configparser.Error) -> str:
    # The parser's own message quotes the line, which may be a key.
    line = getattr(error, "lineno", None)
    errors: List[Any] = getattr(error, "errors", [])
    line = line or (errors[0][0] if errors else None)
    return f"line {line}" if line else type(error).__name__


def _refuse_secrets(path: Path, sections: Dict[str, Dict[str, str]]) -> None:
    for section, values in sections.items():
        for key in _KEYS.intersection(values):
            raise ConfigurationError(
                f"{path}: [{section}] {key}: no file sets the API key; remove it, and set the "
                "environment variable MISTRAL_API_KEY or give api_key="
            )


def _refuse_unknown(path: Path, section: str, values: Mapping[str, str], allowed: Any) -> None:
    for key in values:
        if key in _USER_ONLY and key not in allowed:
            raise ConfigurationError(
                f"{path}: [{section}] {key}: a project file must not say where the key is sent; "
                "set MISTRAL_BASE_URL, or base_url in your own user file"
            )
        if key not in allowed:
            known = ", ".join(sorted(allowed))
            raise ConfigurationError(f"{path}: [{section}] {key}: unknown; there are {known}")
