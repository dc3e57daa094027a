"""The files that a command was told to take, and what they are called."""

from __future__ import annotations

import os
from typing import List, NamedTuple

from ..errors import InvalidArgumentError
from ..notebook._terminal import line
from ..resources._folder import Patterns, files_in


class Named(NamedTuple):
    """A file; of a folder that was given it is named by its path within it, with `/`."""

    path: str
    name: str


def files_of(given: List[str]) -> List[Named]:
    """The files, and for each folder all files in it, sorted; hidden ones are left out.

    What leads out of a folder, or is no file, is left out as well, and said.
    """
    files: List[Named] = []
    for path in given:
        files += _files_in(path) if os.path.isdir(path) else [Named(path, os.path.basename(path))]
    for path, _ in files:
        if not os.path.isfile(path):
            raise InvalidArgumentError(f"{path}: there is no such file")
    return files


def _files_in(folder: str) -> List[Named]:
    files: List[Named] = []
    for found in files_in(folder, Patterns(None)):
        if found.problem is None:
            files.append(Named(found.path, found.name))
        else:
            line(f"{found.name}: left out, {found.problem}")
    return files
