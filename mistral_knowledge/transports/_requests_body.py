"""Request bodies on their way into requests."""

from __future__ import annotations

from typing import Iterator, Optional, Union

from ..errors import InvalidArgumentError
from . import Body


class BodyFailed(BaseException):
    """The body itself raised; `Upload.error` is what.

    urllib3 takes an OSError from a body for one of the socket, and swallows some. It leaves alone
    what is no Exception.
    """


class Upload:
    """Hands the blocks of a body on, exactly as many bytes as it said, and keeps what it raises."""

    def __init__(self, body: Body) -> None:
        self.error: Optional[BaseException] = None
        self._body = body
        self._length = body.length

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from _exactly(self._body, self._length)
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001 - the transport raises it again, as it is
            self.error = error
            raise BodyFailed from None


class SizedUpload(Upload):
    """The same for a body of known length; requests sends its `len()` as Content-Length."""

    def __len__(self) -> int:
        return self._length or 0


def upload_of(body: Union[bytes, Body, None]) -> Union[bytes, Upload, None]:
    """What requests is given as `data` for a request body."""
    if body is None or isinstance(body, (bytes, bytearray, memoryview)):
        return body if body is None else bytes(body)
    if body.length is None:
        return Upload(body)
    return SizedUpload(body) if body.length else b""


def _exactly(blocks: Body, length: Optional[int]) -> Iterator[bytes]:
    sent, last = 0, b""
    for block in blocks:
        sent += len(block)
        if length is not None and sent > length:
            raise InvalidArgumentError(f"the body is longer than the {length} bytes it said")
        if sent == length:
            # It goes out when nothing follows: else the server has a whole request, cut short.
            last = last or block
        elif block:  # an empty chunk would end the body
            yield block
    if length is not None and sent < length:
        raise InvalidArgumentError(f"the body ended after {sent} of {length} bytes")
    if last:
        yield last
