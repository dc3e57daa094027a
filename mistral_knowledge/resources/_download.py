"""A reply's body into a file that is whole or not there."""

from __future__ import annotations

import contextlib
import os
import uuid

from ..errors import InvalidArgumentError
from ..transports import Reply


def target_of(path: object) -> str:
    """The path to save to; InvalidArgumentError for what is there and is no ordinary file."""
    target = os.fsdecode(path)  # type: ignore[arg-type]  # it says itself what it does not take
    if not os.path.basename(target) or "\0" in target:
        raise InvalidArgumentError(f"{target!r}: name a file to save to")
    if os.path.exists(target) and not os.path.isfile(target):
        # Putting the file in its place would remove a directory or a device such as /dev/null.
        raise InvalidArgumentError(f"{target}: name a file, this is something else")
    return target


def save(reply: Reply, path: str) -> None:
    """Stream the body to `path`; until it is whole, it stands beside it under another name."""
    folder = os.path.dirname(os.path.abspath(path))
    unfinished = os.path.join(folder, f".{uuid.uuid4().hex}.part")
    with open(unfinished, "xb") as file:
        try:
            for piece in reply:
                file.write(piece)
            file.close()
            os.replace(unfinished, path)
        except BaseException:
            file.close()  # an open file cannot be removed on every system
            with contextlib.suppress(FileNotFoundError):  # interrupted just after it was renamed
                os.unlink(unfinished)
            raise
