"""The reply that `FakeTransport` gives."""

from __future__ import annotations

from typing import Dict, Iterator, Mapping, Optional

from ._fake_moment import Moment


class FakeReply:
    """A `Reply` over pieces made in this process."""

    def __init__(
        self, status: int, headers: Mapping[str, str], pieces: Iterator[bytes], moment: Moment
    ) -> None:
        self._status = status
        self._headers: Dict[str, str] = dict(headers)
        self._pieces = pieces
        self._moment = moment
        self._ended = False

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, with lower-case names."""
        return self._headers

    @property
    def closed(self) -> bool:
        """Whether it was closed, or read to its end."""
        return self._moment.closed

    def __iter__(self) -> Iterator[bytes]:
        while True:
            piece = self._read()
            if piece is None:
                return
            if piece:
                yield piece

    def close(self) -> None:
        """End it; a thread that is blocked in reading gets an AbortedError."""
        self._moment.close()

    def _read(self) -> Optional[bytes]:
        if self._ended:
            return None
        try:
            piece = self._next()
        except BaseException:
            self.close()
            raise
        if piece is None:
            self._ended = True
            self.close()
        return piece

    def _next(self) -> Optional[bytes]:
        self._moment.check()
        piece = next(self._pieces, None)
        # It may have been ended from outside while the piece was made.
        self._moment.check()
        return piece

    def __repr__(self) -> str:
        return f"<FakeReply {self._status}>"
