"""The reply of the requests transport: its body as it arrives, and the end of its connection."""

from __future__ import annotations

import time
from typing import Any, Iterator, List, Mapping, Optional

from ..errors import AbortedError, InvalidArgumentError
from ._call import Call
from ._failures import LIBRARY_ERRORS, error_for
from ._reading import close_both, close_response, hand_back, reader_of, take_connection
from ._scrub import Secrets

GRACE_SECONDS = 0.05
GRACE_BYTES = 64 * 1024


class RequestsReply:
    """Status and headers of a response, and its body to be read or closed.

    One token, popped and appended, is the right to touch the response: the reader has it while it
    reads a piece, and who closes the reply keeps it. A list does that without a lock, which a
    signal handler or a fork could find taken.
    """

    _gone = True  # until it holds a response

    def __init__(
        self, response: Any, headers: Mapping[str, str], call: Call, secrets: Secrets
    ) -> None:
        self.status: int = response.status_code
        self.headers = headers
        self._raw = response.raw
        self._next_piece = reader_of(response)
        self._connection = take_connection(self._raw)
        self._call = call
        call.connection = None  # from here on it is the reply that closes it
        self._secrets = secrets
        self._turn: List[None] = [None]
        self._closed = False
        self._ended = False
        self._gone = False

    def __iter__(self) -> Iterator[bytes]:
        """The body's pieces as they arrive; see `Reply`."""
        return _pieces(self)

    def close(self) -> None:
        """Let go of the connection; see `Reply`."""
        self._closed = True
        if not self._take_turn():
            self._call.stop()  # somebody reads: it returns now, and lets go
            return
        reuse = False
        try:
            reuse = not self._gone and self._ends_soon()
        finally:
            self._let_go(reuse)

    def drop(self) -> None:
        """Let go of the connection at once, without waiting for the end of the body."""
        self._closed = True
        if self._take_turn():
            self._let_go(False)
        else:
            self._call.stop()

    def next_piece(self) -> bytes:
        """The next piece, or b"" at the end."""
        if self._ended:
            return b""
        if self._call.elsewhere:
            raise InvalidArgumentError("the reply belongs to the process that forked this one")
        self._check_open()
        if not self._take_turn():
            raise InvalidArgumentError("the reply is being read by another thread")
        try:
            piece = self._read()
        finally:
            self._turn.append(None)
        if piece:
            self._check_open()  # it was perhaps closed meanwhile
        return piece

    def __del__(self) -> None:
        if not self._gone:
            self._let_go(False)

    def _take_turn(self) -> bool:
        try:
            self._turn.pop()
        except IndexError:
            return False
        return True

    def _read(self) -> bytes:
        failure: Optional[BaseException] = None
        piece = b""
        try:
            piece = self._next_piece()
        except BaseException as error:
            if not self._expected(error):
                self._let_go(False)
                raise
            failure = error
        if piece and not self._call.stopped:
            return piece
        if not piece and failure is None and self._let_go(True):
            self._ended = True
            return b""
        self._let_go(False)
        raise error_for(failure, self._call, self._secrets)

    def _expected(self, error: BaseException) -> bool:
        # After a shutdown http.client stumbles in its own ways over what is no longer there.
        stumbled = self._call.stopped and isinstance(error, (AttributeError, ValueError))
        return stumbled or isinstance(error, LIBRARY_ERRORS)

    def _check_open(self) -> None:
        if self._closed:
            self.drop()
            raise self._call.error() if self._call.stopped else AbortedError("the reply is closed")

    def _ends_soon(self) -> bool:
        if self._call.stopped or self._call.elsewhere:
            return False
        end, room = time.monotonic() + GRACE_SECONDS, GRACE_BYTES
        try:
            self._call.hurry(GRACE_SECONDS)
            while room > 0 and time.monotonic() < end:
                piece = self._next_piece()
                if not piece:
                    return True
                room -= len(piece)
        except LIBRARY_ERRORS:
            pass  # it does not end well, so it is dropped
        return False

    def _more_behind(self) -> bool:
        # The next request would take it for its own reply.
        return close_response(self._raw, self._connection) or self._call.left_over

    def _let_go(self, reuse: bool) -> bool:
        """Give the connection up, once; returns whether nothing ended the call before."""
        if self._gone:
            return False
        self._gone = True
        ended_well = self._call.finish() and reuse
        if not ended_well or self._more_behind():
            self._call.hang_up()
            close_both(self._raw, self._connection)
        if not self._call.elsewhere:
            hand_back(self._raw, self._connection)
        return ended_well


def _pieces(reply: RequestsReply) -> Iterator[bytes]:
    # A function, not a method: a suspended method would keep its own reply alive.
    while True:
        piece = reply.next_piece()
        if not piece:
            return
        try:
            yield piece
        except BaseException:
            reply.drop()
            raise
