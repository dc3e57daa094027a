"""The files that a command was told to take, and what they are called."""

from __future__ import annotations

import os
from typing import List, NamedTuple

from ..errors import InvalidArgumentError


class Named(NamedTuple):
    """A file; of a folder that was given it is named by its path within it, with `/`."""

    path: str
    name: str


def files_of(given: List[str]) -> List[Named]:
    """The files, and for each folder all files in it, sorted; hidden ones are left out."""
    files: List[Named] = []
    for path in given:
        files += _files_in(path) if os.path.isdir(path) else [Named(path, os.path.basename(path))]
    for path, _ in files:
        if not os.path.isfile(path):
            raise InvalidArgumentError(f"{path}: there is no such file")
    return files


def _files_in(folder: str) -> List[Named]:
    found: List[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(place, name) for name in sorted(names) if name[:1] != "."]
    # A pipe would be waited for, and a link may lead nowhere.
    return [
        Named(path, os.path.relpath(path, folder).replace(os.sep, "/"))
        for path in found
        if os.path.isfile(path)
    ]
