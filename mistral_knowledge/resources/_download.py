"""A reply's body into a file that is whole or not there."""

from __future__ import annotations

import os
import tempfile

from ..transports import Reply


def save(reply: Reply, path: str) -> None:
    """Stream the body to `path`; until it is whole, it stands beside it under another name."""
    folder, name = os.path.split(os.path.abspath(path))
    handle, unfinished = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in reply:
                file.write(piece)
        _take_usual_mode(unfinished)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise


def _take_usual_mode(path: str) -> None:
    # mkstemp makes files for the owner only; a download should look like any other new file.
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)
