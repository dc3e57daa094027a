"""The files of a folder: which count, what they are called, and which cannot be uploaded."""

from __future__ import annotations

import fnmatch
import os
import stat
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import attr

from .._checks import items
from ..errors import InvalidArgumentError

Pattern = Union[str, Iterable[str], None]
Path = Union[str, "os.PathLike[str]"]


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Found:
    """A file: as it was given, what the document is called, and why it cannot be uploaded."""

    path: Any
    name: str
    problem: Optional[Exception] = None


class Patterns:
    """Which names count: `*` within a part of a path, `**` for any number of parts."""

    def __init__(self, given: Pattern) -> None:
        if given is None:
            given = ()
        patterns = [given] if isinstance(given, str) else items("pattern", given, str, "texts")
        if not all(isinstance(one, str) and one.strip("/") for one in patterns):
            raise InvalidArgumentError(
                f"pattern={given!r}: give one such as '**/*.md', or several in a list"
            )
        self._patterns = [one.strip("/").split("/") for one in patterns]

    def match(self, name: str) -> bool:
        """Whether the file of this relative name counts; hidden ones never do."""
        parts = name.split("/")
        if any(part.startswith(".") or not part for part in parts):
            return False
        return not self._patterns or any(_matches(parts, one) for one in self._patterns)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or (bool(parts) and _matches(parts[1:], pattern))
    return (
        bool(parts)
        and fnmatch.fnmatchcase(parts[0], pattern[0])
        and _matches(parts[1:], pattern[1:])
    )


def files_in(folder: str, patterns: Patterns) -> Iterator[Found]:
    """The files of a folder and its subfolders, sorted, read as they are asked for.

    Hidden files and folders are left out, and so are links to folders. What cannot be uploaded has
    a `problem`: a folder that cannot be read, a pipe or device, a link that leads out or nowhere.
    Raises OSError if the folder itself cannot be read.
    """
    root = os.path.realpath(folder)
    yield from _walk(folder, "", root, patterns, _sorted_entries(folder))


def _walk(
    folder: str, prefix: str, root: str, patterns: Patterns, entries: List[os.DirEntry[str]]
) -> Iterator[Found]:
    for entry in entries:
        name, path = f"{prefix}{entry.name}", os.path.join(folder, entry.name)
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _subfolder(path, name, root, patterns)
        elif patterns.match(name) and not os.path.isdir(path):
            yield Found(path, name, _problem(path, name, root))
        elif patterns.match(name) and not _within(path, root):
            yield Found(path, name, InvalidArgumentError(_LEADS_OUT))


def _subfolder(path: str, name: str, root: str, patterns: Patterns) -> Iterator[Found]:
    try:
        entries = _sorted_entries(path)
    except OSError as error:
        yield Found(path, f"{name}/", error)
        return
    yield from _walk(path, f"{name}/", root, patterns, entries)


def _sorted_entries(folder: str) -> List[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


_LEADS_OUT = "it is a link that leads out of the folder"


def _problem(path: str, name: str, root: str) -> Optional[Exception]:
    try:
        name.encode("utf-8")
        refuse_what_is_no_file(path)
    except UnicodeEncodeError:
        return InvalidArgumentError("its name is not UTF-8; rename it")
    except (InvalidArgumentError, OSError) as error:
        return error
    return None if _within(path, root) else InvalidArgumentError(_LEADS_OUT)


def _within(path: str, root: str) -> bool:
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(root, ""))


def refuse_what_is_no_file(path: Path) -> os.stat_result:
    """What `stat` says of a file; InvalidArgumentError for a folder, a pipe, a device."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        # Opening a pipe would wait for somebody to write into it, and nothing could end that.
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe, a socket or a device"
        raise InvalidArgumentError(f"it is {kind}, not a file")
    return found


def files_of(given: Any, pattern: Pattern) -> Tuple[Iterable[Found], Optional[int]]:
    """The files that were given, and how many they are, where that is known."""
    if isinstance(given, (str, os.PathLike)):
        return _files_at(os.fsdecode(given), pattern)
    if pattern is not None:
        raise InvalidArgumentError("pattern= is for a folder; paths are uploaded as they are given")
    if isinstance(given, (bytes, bytearray)) or not hasattr(given, "__iter__"):
        raise InvalidArgumentError("give a folder, a file, or paths of files")
    return map(_found, given), len(given) if hasattr(given, "__len__") else None


def _files_at(path: str, pattern: Pattern) -> Tuple[Iterable[Found], Optional[int]]:
    if os.path.isdir(path):
        return files_in(path, Patterns(pattern)), None
    if not os.path.lexists(path):
        raise InvalidArgumentError(f"{path}: there is no such folder or file")
    return [Found(path, os.path.basename(path))], 1


def _found(path: Path) -> Found:
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidArgumentError(f"expected the path of a file, got a {type(path).__name__}")
    return Found(path, os.path.basename(os.fsdecode(path)))
