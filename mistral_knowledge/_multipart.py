"""A multipart/form-data body that streams its file.

The part headers are urllib3's; the body is ours, because requests' own takes the whole file into
memory twice, and the streaming encoder of requests-toolbelt three times as long.
"""

from __future__ import annotations

import os
from typing import Callable, Iterator, List, Optional, Sequence, Tuple

from ._checks import callables
from ._uploads import Upload

OnProgress = Callable[[int, Optional[int]], object]


class MultipartBody:
    """Fields, then one file; a `transports.Body`.

    on_progress: called as `on_progress(sent, total)` after each block, in bytes of the file;
        total is None where the file cannot say. A repetition starts again from 0.
    """

    def __init__(
        self,
        fields: Sequence[Tuple[str, str]],
        upload: Upload,
        on_progress: Optional[OnProgress] = None,
    ) -> None:
        self._boundary = os.urandom(16).hex()
        self._upload = upload
        self._on_progress = callables(on_progress=on_progress).get("on_progress")
        self._head = _head(self._boundary, fields, upload)
        self._tail = f"\r\n--{self._boundary}--\r\n".encode("ascii")

    @property
    def content_type(self) -> str:
        """The request's content-type header."""
        return f"multipart/form-data; boundary={self._boundary}"

    @property
    def length(self) -> Optional[int]:
        """Bytes in all, or None where the file cannot say."""
        size = self._upload.length
        return None if size is None else len(self._head) + size + len(self._tail)

    @property
    def repeatable(self) -> bool:
        """Whether it can be sent again."""
        return self._upload.repeatable

    def __iter__(self) -> Iterator[bytes]:
        blocks = iter(self._upload)
        return self._pieces(blocks)

    def _pieces(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        yield self._head
        sent = 0
        for block in blocks:
            yield block
            sent += len(block)
            if self._on_progress is not None:
                self._on_progress(sent, self._upload.length)
        yield self._tail


def _head(boundary: str, fields: Sequence[Tuple[str, str]], upload: Upload) -> bytes:
    pieces: List[str] = []
    for name, value in fields:
        pieces += [f"--{boundary}\r\n", _part_headers(name), value, "\r\n"]
    pieces += [f"--{boundary}\r\n", _part_headers("file", upload.name, upload.mime_type)]
    # File names need not be text on every system: what has no UTF-8 becomes a question mark.
    return "".join(pieces).encode("utf-8", "replace")


def _part_headers(
    name: str, filename: Optional[str] = None, mime_type: Optional[str] = None
) -> str:
    # urllib3 brings ssl with it, which must not be loaded before something is sent.
    from urllib3.fields import RequestField

    field = RequestField(name, b"", filename)
    field.make_multipart(content_type=mime_type)
    return field.render_headers()
