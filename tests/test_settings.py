"""settings: every precedence and every refusal of design.md 5."""

from __future__ import annotations

import codecs
import os
import pathlib
import pickle
from typing import Any, Callable, Optional

import attr
import pytest
from hypothesis import given, strategies as st

from mistral_knowledge import ConfigurationError, Settings, Timeout
from mistral_knowledge.transports import LONGEST

KEY = "sk-live-0123456789"


@attr.s(auto_attribs=True)
class Machine:
    """The places that settings come from."""

    work: pathlib.Path
    user_file: pathlib.Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def project_file(self) -> pathlib.Path:
        return self.work / "mistral_knowledge.ini"

    def project(self, text: str) -> None:
        self.project_file.write_text(text, encoding="utf-8")

    def user(self, text: str) -> None:
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        self.user_file.write_text(text, encoding="utf-8")

    def environment(self, name: str, value: str) -> None:
        self.monkeypatch.setenv(name, value)


@pytest.fixture
def machine(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    import platformdirs

    folder = platformdirs.user_config_dir("mistral_knowledge", appauthor=False)
    assert str(tmp_path) in folder
    return Machine(tmp_path / "work", pathlib.Path(folder) / "config.ini", monkeypatch)


def read(name: str) -> Any:
    return getattr(Settings.load(), name)()


def test_without_any_setting_there_are_the_defaults() -> None:
    settings = Settings.load()
    assert (settings.project, settings.user) == (None, None)
    assert settings.streaming() is True
    assert settings.model() == "mistral-medium-latest"
    assert settings.base_url() == "https://api.mistral.ai"
    assert settings.retries() == 2
    assert settings.timeout() == Timeout()
    assert settings.api_key() is None


# Each level on top of all those below it: the more specific section first, then the project.
LEVELS = ["project rag", "user rag", "project knowledge", "user knowledge"]


@pytest.mark.parametrize("present", range(16))
def test_rag_beats_knowledge_and_the_project_beats_the_user(machine: Machine, present: int) -> None:
    levels = [level for bit, level in enumerate(LEVELS) if present >> bit & 1]
    for place, write in (("project", machine.project), ("user", machine.user)):
        sections = [level.split()[1] for level in levels if level.startswith(place)]
        write("".join(f"[{section}]\nmodel = {place} {section}\n" for section in sections))
    assert read("model") == (levels[0] if levels else "mistral-medium-latest")


@pytest.mark.parametrize(
    ("project", "user", "environment", "streaming"),
    [
        ("[rag]\nstreaming=off", "[rag]\nstreaming=on", "1", False),
        ("[knowledge]\nstreaming=off", "[rag]\nstreaming=on", "0", True),
        ("", "[rag]\nstreaming=no", "1", False),
        ("[knowledge]\nstreaming=1", "[knowledge]\nstreaming=0", "0", True),
        ("", "[knowledge]\nstreaming=True", "0", True),
        ("", "", "0", False),
        ("", "", None, True),
    ],
)
def test_files_beat_the_environment_which_beats_the_default(
    machine: Machine, project: str, user: str, environment: Optional[str], streaming: bool
) -> None:
    machine.project(project)
    machine.user(user)
    if environment is not None:
        machine.environment("MISTRAL_RAG_STREAMING", environment)
    assert read("streaming") is streaming


@pytest.mark.parametrize(
    ("value", "streaming"),
    [
        *((word, False) for word in ("0", "false", "off", "no", "FALSE", "Off", " no ")),
        *((word, True) for word in ("", "  ", "1", "true", "nope", "disabled", "00")),
    ],
)
def test_only_four_words_in_the_environment_switch_streaming_off(
    machine: Machine, value: str, streaming: bool
) -> None:
    machine.environment("MISTRAL_RAG_STREAMING", value)
    assert read("streaming") is streaming


@pytest.mark.parametrize(
    ("text", "streaming"),
    [(word, True) for word in ("1", "true", "on", "yes", "TRUE", "Yes")]
    + [(word, False) for word in ("0", "false", "off", "no", "OFF", "False")],
)
def test_a_boolean_in_a_file_is_one_of_eight_words_in_any_case(
    machine: Machine, text: str, streaming: bool
) -> None:
    machine.project(f"[rag]\nstreaming = {text}\n")
    assert read("streaming") is streaming


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [("streaming", "streaming", text) for text in ("maybe", "", "2", "true ; yes", "on off")]
    + [("retries", "retries", text) for text in ("-1", "1.5", "", "two", "²", "٣", "1" * 5000)]
    + [("timeout", "timeout_idle", text) for text in ("0", "-1", "soon", "nan", "inf", "", "1 s")]
    + [("model", "model", ""), ("model", "model", "   ")],
)
@pytest.mark.parametrize("section", ["rag", "knowledge"])
def test_a_value_that_cannot_be_is_an_error_naming_file_section_and_key(
    machine: Machine, section: str, name: str, key: str, text: str
) -> None:
    machine.project(f"[{section}]\n{key} = {text}\n")
    settings = Settings.load()
    with pytest.raises(ConfigurationError) as caught:
        getattr(settings, name)()
    assert str(caught.value).startswith(f"{machine.project_file}: [{section}] {key}: it ")
    assert caught.value.__cause__ is None


def test_limits_are_seconds_or_none_and_the_others_stay(machine: Machine) -> None:
    machine.project("[knowledge]\ntimeout_idle = 1.5\ntimeout_total = none\n")
    machine.user("[knowledge]\ntimeout_idle = 9\ntimeout_total = 60\ntimeout_write = None\n")
    assert read("timeout") == Timeout(idle=1.5, total=None, write=None)


def test_retries_may_be_none_at_all(machine: Machine) -> None:
    machine.project("[knowledge]\nretries = 0\n")
    assert read("retries") == 0


def test_the_user_file_sets_the_address_and_beats_the_environment(machine: Machine) -> None:
    machine.environment("MISTRAL_BASE_URL", " https://environment.example ")
    assert read("base_url") == "https://environment.example"
    machine.user("[knowledge]\nbase_url = https://user.example\n")
    assert read("base_url") == "https://user.example"


def test_an_empty_address_in_the_environment_is_not_set(machine: Machine) -> None:
    machine.environment("MISTRAL_BASE_URL", "  ")
    assert read("base_url") == "https://api.mistral.ai"


@pytest.mark.parametrize("section", ["rag", "knowledge"])
def test_a_project_file_that_sets_the_address_is_refused(machine: Machine, section: str) -> None:
    machine.project(f"[{section}]\nbase_url = https://evil.example\n")
    with pytest.raises(ConfigurationError, match="must not say where the key is sent") as caught:
        Settings.load()
    assert "evil.example" not in str(caught.value)


@pytest.mark.parametrize("place", ["project", "user"])
@pytest.mark.parametrize("section", ["rag", "knowledge", "DEFAULT", "default", "other"])
@pytest.mark.parametrize(
    "name", ["api_key", "API_KEY", "apikey", "key", "Token", "mistral_api_key"]
)
def test_no_file_may_hold_a_key_in_any_section_and_none_is_shown(
    machine: Machine, place: str, section: str, name: str
) -> None:
    getattr(machine, place)(f"[{section}]\n{name} = {KEY}\n")
    with pytest.raises(ConfigurationError, match="no file sets the API key") as caught:
        Settings.load()
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("name", ["stream", "Modell", "timeout", "api-key", "url"])
def test_a_name_that_is_no_setting_is_refused_without_its_value(
    machine: Machine, name: str
) -> None:
    machine.project(f"[rag]\n{name} = {KEY}\n")
    with pytest.raises(ConfigurationError, match=f"{name.lower()}: unknown; there are") as caught:
        Settings.load()
    assert KEY not in str(caught.value)


def test_sections_of_others_and_names_in_capitals_do_no_harm(machine: Machine) -> None:
    machine.project("[other]\nbase_url = x\n[knowledge]\nMODEL = mine\n")
    assert read("model") == "mine"


@pytest.mark.parametrize(
    "text",
    [
        f"model = {KEY}\n",
        f"[rag]\n{KEY}\n",
        f"[rag]\nmodel = a\nmodel = {KEY}\n",
        f"[rag]\n[rag]\nmodel = {KEY}",
        f"[rag\nmodel = {KEY}",
        f"{{'model': '{KEY}'}}",
        "\0",
    ],
)
def test_what_is_no_ini_file_is_an_error_that_quotes_nothing(machine: Machine, text: str) -> None:
    machine.project(text)
    with pytest.raises(ConfigurationError) as caught:
        Settings.load()
    assert str(machine.project_file) in str(caught.value)
    assert KEY not in str(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_an_interpolation_sign_is_just_a_sign(machine: Machine) -> None:
    machine.project("[rag]\nmodel = 100%(x)s%\n")
    assert read("model") == "100%(x)s%"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
def test_a_byte_order_mark_and_any_line_ends_are_read(
    machine: Machine, bom: bytes, newline: str
) -> None:
    text = newline.join(["# mine", "[rag]", "model = modèle", ""])
    machine.project_file.write_bytes(bom + text.encode())
    assert read("model") == "modèle"


@pytest.mark.parametrize("content", ["[rag]\n".encode("utf-16"), b"[rag]\nmodel = \xff\n"])
def test_a_file_that_is_no_utf8_is_an_error_naming_it(machine: Machine, content: bytes) -> None:
    machine.project_file.write_bytes(content)
    with pytest.raises(ConfigurationError, match="cannot be read: UnicodeDecodeError"):
        Settings.load()


def test_an_empty_file_sets_nothing(machine: Machine) -> None:
    machine.project("")
    machine.user("\n# nothing\n")
    assert read("model") == "mistral-medium-latest"


def test_the_project_file_is_the_nearest_upwards(machine: Machine) -> None:
    inner = machine.work / "a" / "b"
    inner.mkdir(parents=True)
    machine.project("[rag]\nmodel = outer\n")
    machine.monkeypatch.chdir(inner)
    assert read("model") == "outer"
    (machine.work / "a" / "mistral_knowledge.ini").write_text("[rag]\nmodel = nearer\n")
    assert read("model") == "nearer"
    assert Settings.load(machine.work).model() == "outer"
    assert Settings.load(os.path.join("..", "..")).model() == "outer"


def test_the_user_file_may_be_named(machine: Machine, tmp_path: pathlib.Path) -> None:
    machine.user("[rag]\nmodel = usual\n")
    other = tmp_path / "other.ini"
    other.write_text("[rag]\nmodel = named\n")
    assert Settings.load(user_file=str(other)).model() == "named"


def _folder(path: pathlib.Path) -> None:
    path.mkdir(parents=True)


def _fifo(path: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def _loop(path: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path)


@pytest.mark.parametrize("make", [_folder, _fifo, _loop])
@pytest.mark.parametrize("place", ["project_file", "user_file"])
def test_what_is_no_file_is_not_read(
    machine: Machine, place: str, make: Callable[[pathlib.Path], None]
) -> None:
    make(getattr(machine, place))
    assert read("model") == "mistral-medium-latest"


def test_a_working_directory_that_is_gone_sets_nothing(machine: Machine) -> None:
    gone = machine.work / "gone"
    gone.mkdir()
    machine.monkeypatch.chdir(gone)
    gone.rmdir()
    assert read("model") == "mistral-medium-latest"


def test_files_are_read_once_and_the_key_each_time(machine: Machine) -> None:
    machine.project("[rag]\nmodel = before\n")
    settings = Settings.load()
    machine.project("[rag]\nmodel = after\n")
    machine.environment("MISTRAL_API_KEY", "one")
    keys = [settings.api_key()]
    machine.environment("MISTRAL_API_KEY", "two")
    assert (settings.model(), [*keys, settings.api_key()]) == ("before", ["one", "two"])


def test_settings_hold_no_key_to_be_shown_or_pickled(machine: Machine) -> None:
    machine.environment("MISTRAL_API_KEY", KEY)
    machine.environment("MISTRAL_RAG_STREAMING", "0")
    settings = Settings.load()
    assert KEY not in repr(settings)
    assert KEY.encode() not in pickle.dumps(settings)
    assert pickle.loads(pickle.dumps(settings)).streaming() is False


@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_any_text_is_settings_or_an_error_of_ours(tmp_path_factory: Any, text: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "mistral_knowledge.ini").write_text(text, encoding="utf-8")
    try:
        settings = Settings.load(folder)
    except ConfigurationError:
        return
    assert isinstance(settings.model(), str)


@given(st.sampled_from(["streaming", "retries", "timeout_total", "model"]), st.text())
def test_any_value_is_read_or_an_error_of_ours(key: str, value: str) -> None:
    from mistral_knowledge.settings import SettingsFile

    settings = Settings(SettingsFile("x.ini", {"rag": {key: value}}))
    for method in (settings.streaming, settings.retries, settings.timeout, settings.model):
        error = None
        try:
            method()
        except ConfigurationError as caught:
            error = str(caught)
        assert error is None or error.startswith(f"x.ini: [rag] {key}: it ")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("model = x", "line 1"),  # no section
        ("[rag]\nmodel = x\nwhat is this", "line 3"),
        ("[rag]\n[rag]", "line 2"),
        ("[rag]\nmodel = x\nmodel = y", "line 3"),
    ],
)
def test_what_is_no_ini_file_is_an_error_that_names_the_line(
    machine: Machine, text: str, place: str
) -> None:
    machine.project(text)
    with pytest.raises(ConfigurationError) as caught:
        Settings.load()
    assert str(caught.value) == f"{machine.project_file}: it is no INI file ({place})"


def test_a_refusal_names_the_file_the_section_and_what_to_do(machine: Machine) -> None:
    known = (
        "model, retries, streaming, timeout_connect, timeout_first_byte, timeout_idle, "
        "timeout_total, timeout_write"
    )
    refusals = {
        "[other]\ntoken = x": "[other] token: no file sets the API key; remove it, and set the "
        "environment variable MISTRAL_API_KEY or give api_key=",
        "[rag]\nbase_url = x": "[rag] base_url: a project file must not say where the key is "
        "sent; set MISTRAL_BASE_URL, or base_url in your own user file",
        "[knowledge]\nmodle = x": f"[knowledge] modle: unknown; there are {known}",
    }
    for text, words in refusals.items():
        machine.project(text)
        with pytest.raises(ConfigurationError) as caught:
            Settings.load()
        assert str(caught.value) == f"{machine.project_file}: {words}"


def test_the_section_default_of_ini_files_is_a_section_like_others(machine: Machine) -> None:
    machine.project("[DEFAULT]\nmodel = x\n[rag]\nretries = 1")
    assert read("model") == "mistral-medium-latest"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("retries", "999999999", 999999999),
        ("timeout_idle", "0.001", 0.001),
        ("timeout_idle", "1", 1.0),
        ("timeout_idle", str(LONGEST), LONGEST),
    ],
)
def test_values_at_the_edge_of_what_is_allowed_are_taken(
    machine: Machine, key: str, text: str, value: float
) -> None:
    machine.project(f"[rag]\n{key} = {text}")
    settings = Settings.load()
    assert (settings.retries() if key == "retries" else settings.timeout().idle) == value


def test_a_number_of_repetitions_has_at_most_nine_digits(machine: Machine) -> None:
    machine.project("[rag]\nretries = 1000000000")
    with pytest.raises(ConfigurationError, match="it is no number of repetitions"):
        read("retries")


def test_a_copy_without_the_address_keeps_everything_else(machine: Machine) -> None:
    machine.environment("MISTRAL_BASE_URL", "https://one.example")
    machine.environment("MISTRAL_RAG_STREAMING", "off")
    machine.project("[rag]\nmodel = p")
    machine.user("[knowledge]\nbase_url = https://two.example\nretries = 7")
    whole = Settings.load()
    copied = whole.without_address()
    assert whole.base_url() == "https://two.example"
    assert copied.base_url() == "https://api.mistral.ai"
    assert copied.project == whole.project
    assert copied.user == attr.evolve(whole.user, sections={"knowledge": {"retries": "7"}})
    assert copied.environment == {"MISTRAL_RAG_STREAMING": "off"}
    assert Settings().without_address() == Settings()
