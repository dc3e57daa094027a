"""Content that is downloaded: whole or an error, in a file that is whole or not there, by URL."""

from __future__ import annotations

import contextlib
import os
import uuid
from typing import Any, Iterable, Iterator, Optional

from .._checks import refuse
from .._secrets import SignedUrl
from ..errors import ConnectionLostError, InvalidArgumentError, UnexpectedResponseError


def whole(pieces: Iterable[bytes], size: Optional[int]) -> Iterator[bytes]:
    """The `pieces`; ConnectionLostError where they end before `size` bytes (None: not known)."""
    # Where a reply does not say its length, HTTP cannot tell its end from a broken connection.
    received = 0
    for piece in pieces:
        received += len(piece)
        yield piece
    if size is not None and received < size:
        raise ConnectionLostError(f"the content broke off after {received} of {size} bytes")


def signed_url_of(url: Any) -> SignedUrl:
    """The URL that a server gave; UnexpectedResponseError for what is none."""
    fits = isinstance(url, str) and url.startswith(("http://", "https://"))
    if not fits or any(map(str.isspace, url)):
        raise UnexpectedResponseError("expected a signed URL, got another shape")
    return SignedUrl(url)


def target_of(path: object) -> str:
    """The path to save to; InvalidArgumentError for what is there and is no ordinary file."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        refuse("path", path, "a path")
    target = os.fsdecode(path)
    if not os.path.basename(target) or "\0" in target:
        raise InvalidArgumentError(f"{target!r}: name a file to save to")
    if os.path.exists(target) and not os.path.isfile(target):
        # Putting the file in its place would remove a directory or a device such as /dev/null.
        raise InvalidArgumentError(f"{target}: name a file, this is something else")
    return target


def save(pieces: Iterable[bytes], path: str) -> None:
    """Stream `pieces` to `path`; until they are whole, they stand beside it under another name."""
    folder = os.path.dirname(os.path.abspath(path))
    unfinished = os.path.join(folder, f".{uuid.uuid4().hex}.part")
    try:
        with open(unfinished, "xb") as file:
            for piece in pieces:
                file.write(piece)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):  # it was not made, or was just put in its place
            os.unlink(unfinished)
        raise
