"""The files that a command was told to take."""

from __future__ import annotations

import os
from typing import List

from ..errors import InvalidArgumentError


def files_of(given: List[str]) -> List[str]:
    """The files, and for each folder all files in it, sorted; hidden ones are left out."""
    paths: List[str] = []
    for path in given:
        paths += _files_in(path) if os.path.isdir(path) else [path]
    for path in paths:
        if not os.path.isfile(path):
            raise InvalidArgumentError(f"{path}: there is no such file")
    return paths


def _files_in(folder: str) -> List[str]:
    found: List[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(place, name) for name in sorted(names) if name[:1] != "."]
    # A pipe would be waited for, and a link may lead nowhere.
    return [path for path in found if os.path.isfile(path)]
