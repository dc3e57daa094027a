"""What a model may upload: a file below a root, or text that it writes itself."""

from __future__ import annotations

import contextlib
import os
from typing import Iterator, Optional, Tuple

from .._uploads import FileInput
from ._arguments import BadArgumentsError
from ._local_files import LocalFiles

PATH = (
    "Path of a local file, below the folders that this application allows. Or give text and name."
)
TEXT = "The content itself, in place of a path. Needs a name."
NAME = "File name to upload it under, with its extension, such as notes.md."


@contextlib.contextmanager
def upload_of(
    files: LocalFiles, path: Optional[str], text: Optional[str], name: Optional[str]
) -> Iterator[Tuple[FileInput, str]]:
    """(what to upload, its name). Raises BadArgumentsError."""
    if (path is None) == (text is None):
        raise BadArgumentsError("give either path or text: one of the two")
    if text is not None:
        if name is None:
            raise BadArgumentsError("name is missing: text needs a file name, such as notes.md")
        yield (name, text), name
        return
    assert path is not None
    with files.opened(path) as file:
        name = name or os.path.basename(path)
        yield (name, file), name
