"""What may be uploaded: a path, bytes with a name, a tuple, or anything with `read()`."""

from __future__ import annotations

import io
import mimetypes
import os
import stat
from types import TracebackType
from typing import Any, BinaryIO, Iterator, Optional, Tuple, Type, Union, cast

from ._checks import refuse, texts
from .errors import InvalidArgumentError

FileContent = Union[bytes, bytearray, memoryview, str, BinaryIO]
FileInput = Union[
    str,
    "os.PathLike[str]",
    bytes,
    bytearray,
    memoryview,
    BinaryIO,
    Tuple[str, FileContent],
    Tuple[str, FileContent, Optional[str]],
]

BLOCK = 256 * 1024

_TEXT_MODE = "the file is opened in text mode: open it with mode 'rb'"

# The standard library's table depends on the machine; these come first.
_MIME_TYPES = {
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".epub": "application/epub+zip",
    ".htm": "text/html",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".pdf": "application/pdf",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".rst": "text/x-rst",
    ".txt": "text/plain",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xml": "application/xml",
}


def mime_type_of(name: str) -> str:
    """The MIME type of a file name; `application/octet-stream` where nobody knows."""
    extension = os.path.splitext(name)[1].lower()
    known = _MIME_TYPES.get(extension) or mimetypes.guess_type(name)[0]
    return known or "application/octet-stream"


def _checked_mime_type(given: str) -> str:
    if given.isprintable() and given.isascii():
        return given
    raise InvalidArgumentError(f"mime_type={given!r} is no MIME type")


class Upload:
    """A file to be uploaded, open at its start.

    name, mime_type: what the server is told
    length: bytes from the start on, or None where the file cannot say
    repeatable: whether it can be read once more; a file that cannot seek, only until it was begun

    A context manager: it closes what it opened itself, never a file of the caller's.
    """

    def __init__(self, stream: BinaryIO, name: str, mime_type: Optional[str], ours: bool) -> None:
        self._stream = stream
        self._ours = ours
        self._begun = False
        self._start, self.length = _extent(stream)
        self.name = name
        self.mime_type = _checked_mime_type(mime_type) if mime_type else mime_type_of(name)

    @property
    def repeatable(self) -> bool:
        """Whether reading it (again) gives all of it."""
        return self._start is not None or not self._begun

    def __iter__(self) -> Iterator[bytes]:
        """Its blocks, from where the file stood when it was given."""
        if not self.repeatable:
            raise InvalidArgumentError(f"{self.name}: it cannot be read a second time")
        self._begun = True
        if self._start is not None:
            self._stream.seek(self._start)
        return self._blocks()

    def _blocks(self) -> Iterator[bytes]:
        left = self.length
        while left is None or left > 0:
            block = self._stream.read(BLOCK if left is None else min(BLOCK, left))
            if block is None:
                raise InvalidArgumentError(
                    f"{self.name}: it does not wait for its data (O_NONBLOCK)"
                )
            if not block:
                break
            left = left if left is None else left - len(block)
            yield block
        if left:
            raise InvalidArgumentError(f"{self.name}: it became shorter while it was uploaded")

    def __enter__(self) -> Upload:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if self._ours:
            self._stream.close()


def open_upload(
    file: FileInput, name: Optional[str] = None, mime_type: Optional[str] = None
) -> Upload:
    """An Upload of what the caller gave; `name` and `mime_type` win over what it says itself.

    Raises InvalidArgumentError for what cannot be uploaded, and what `open` raises for a path.
    """
    texts(name=name, mime_type=mime_type)
    if isinstance(file, tuple):
        return _from_tuple(file, name, mime_type)
    if isinstance(file, (bytes, bytearray, memoryview)):
        return _from_bytes(file, name, mime_type)
    if isinstance(file, (str, os.PathLike)):
        path = _regular(os.fsdecode(file))
        return Upload(open(path, "rb"), name or os.path.basename(path), mime_type, ours=True)
    return _from_stream(file, name, mime_type)


def _regular(path: str) -> str:
    # Opening a pipe waits for its writer, and nothing could end that.
    try:
        kind = os.stat(path).st_mode
    except ValueError:
        raise InvalidArgumentError(f"{path!r} is no path") from None
    if not stat.S_ISREG(kind):
        raise InvalidArgumentError(
            f"{path}: it is no ordinary file; open a pipe or a device yourself, and give that file"
        )
    return path


def _from_tuple(file: Any, name: Optional[str], mime_type: Optional[str]) -> Upload:
    if not 2 <= len(file) <= 3 or not isinstance(file[0], str):
        raise InvalidArgumentError("a tuple to upload is (name, content) or (name, content, type)")
    content, told = file[1], file[2] if len(file) == 3 else None
    if told is not None and not isinstance(told, str):
        refuse("the type of the file", told, "text")
    if isinstance(content, str):
        content = _utf8(content)
    if isinstance(content, (bytes, bytearray, memoryview)):
        return _from_bytes(content, name or file[0], mime_type or told)
    return _from_stream(content, name or file[0], mime_type or told)


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArgumentError("the text to upload has characters that no UTF-8 has") from None


def _from_bytes(content: Any, name: Optional[str], mime_type: Optional[str]) -> Upload:
    if not name:
        raise InvalidArgumentError("bytes have no name: give name='report.pdf'")
    return Upload(io.BytesIO(content), name, mime_type, ours=True)


def _from_stream(stream: Any, name: Optional[str], mime_type: Optional[str]) -> Upload:
    if not callable(getattr(stream, "read", None)):
        raise InvalidArgumentError(
            f"cannot upload a {type(stream).__name__}: give a path, bytes with name=, "
            "a file opened in binary mode, or (name, content)"
        )
    if isinstance(stream, io.TextIOBase):
        raise InvalidArgumentError(_TEXT_MODE)
    _refuse_what_gives_no_bytes(stream, stream.read(0))
    return Upload(cast(BinaryIO, stream), name or _name_of(stream), mime_type, ours=False)


def _refuse_what_gives_no_bytes(stream: Any, nothing: Any) -> None:
    if isinstance(nothing, str):
        raise InvalidArgumentError(_TEXT_MODE)
    if isinstance(nothing, (bytes, bytearray, memoryview)) and len(nothing):
        # What it gave is lost to the upload, and it would give everything at once, from memory.
        raise InvalidArgumentError(
            f"read(0) of a {type(stream).__name__} gives data: its read() does not take a size; "
            "give its content as bytes with name="
        )
    if nothing is None or isinstance(nothing, (bytes, bytearray, memoryview)):
        return
    if hasattr(nothing, "close"):
        nothing.close()  # a coroutine that nobody will await
    raise InvalidArgumentError(
        f"read() of a {type(stream).__name__} gives a {type(nothing).__name__} in place of bytes; "
        "of an asynchronous upload, give the plain file in it (.file)"
    )


def _name_of(stream: Any) -> str:
    # Flask's FileStorage has .filename; a TemporaryFile's .name is a number.
    for attribute in ("filename", "name"):
        value = getattr(stream, attribute, None)
        if isinstance(value, str) and os.path.basename(value):
            return os.path.basename(value)
    raise InvalidArgumentError("the file has no name: give name='report.pdf'")


def _extent(stream: BinaryIO) -> Tuple[Optional[int], Optional[int]]:
    """(position, bytes from there to the end), or (None, None) for what cannot seek."""
    try:
        start = stream.tell()
        if type(start) is not int:
            return None, None
        stream.seek(0, io.SEEK_END)
        end = stream.tell()
        stream.seek(start)
    except (AttributeError, OSError, ValueError):
        return None, None
    return start, max(0, end - start)
