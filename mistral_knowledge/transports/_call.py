"""One call on its way: the phase it is in, the socket it uses, and how it ends.

How it ends is decided once: whoever pops the one token either takes the socket back for the next
request or shuts it down. So a socket that has gone back to its pool is never shut down, and no lock
is needed: `stop` may run in a signal handler, in the middle of anything.
"""

from __future__ import annotations

import _socket
import contextlib
import contextvars
import os
import socket
import time
from typing import Any, List, Optional

from ..abort import AbortSignal
from ..errors import AbortedError, KnowledgeError
from . import Timeout

CURRENT: contextvars.ContextVar[Call] = contextvars.ContextVar("mistral_knowledge.call")


class Call:
    """What the connection, the reply and the signal of one request share.

    phase: connect, write, first_byte or idle: the field of `Timeout` that counts now
    tracked: whether the connection is one of ours, which reports its phase
    stopped: whether it was ended from outside
    left_over: whether the server sent more than its response
    """

    def __init__(self, timeout: Timeout, signal: Optional[AbortSignal]) -> None:
        self.timeout = timeout
        self.phase = "connect"
        self.tracked = False
        self.stopped = False
        self.left_over = False
        self.connection: Any = None
        self._signal = signal
        self._process = os.getpid()
        self._undecided: List[None] = [None]
        self._sock: Any = None
        self._spare: Any = None
        self._end: Optional[float] = None
        self._forget = signal.add_callback(self.stop) if signal is not None else _nothing

    @property
    def elsewhere(self) -> bool:
        """Whether this is a forked copy: the socket is still used by the parent process."""
        return os.getpid() != self._process

    @property
    def connecting(self) -> bool:
        """Whether the connection is being made: TCP, proxy, TLS."""
        return self._spare is not None

    def stop(self) -> None:
        """End the call from any thread or signal handler: whoever uses its socket wakes up."""
        if self._decide():
            self.stopped = True
            self.hang_up()

    def hang_up(self) -> None:
        """Shut the socket down, so that the peer knows and a blocked thread returns."""
        if not self.elsewhere:
            shut_down(self._sock)

    def finish(self) -> bool:
        """Whether the call may hand its socket back; from then on nobody shuts it down."""
        won = self._decide()
        self._forget()
        return won

    def check(self) -> None:
        """Raise OSError if the call was stopped; the caller of the transport never sees it."""
        if self.stopped:
            raise OSError("the call was stopped")

    def error(self) -> KnowledgeError:
        """What a stopped call raises."""
        if self._signal is not None and self._signal.aborted:
            return self._signal.error()
        return AbortedError("the reply was closed while it was being read")

    def note(self, sock: Any) -> None:
        """Remember the socket that `stop` has to shut down."""
        # Noted first and checked after: `stop` marks first and looks for the socket after, so that
        # one of the two always sees the other.
        self._sock = sock
        self.check()

    def note_spare(self, sock: Any) -> None:
        """Remember a second handle of a socket: a TLS handshake takes the first one away."""
        self.release_spare()
        self._spare = sock.dup()
        self.note(self._spare)

    def release_spare(self) -> None:
        """Close the second handle."""
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.close()

    def enter(self, phase: str) -> None:
        """Start a phase that has to be over, as a whole, when its limit is."""
        self.phase = phase
        seconds = getattr(self.timeout, phase)
        self.end_in(seconds)

    def begin_reading(self, sock: Any) -> None:
        """Start reading the body: from here on each wait has the limit for itself.

        sock: the socket where the call does not know it, or None
        """
        self.phase = "idle"
        self._end = None
        self.note(self._sock if sock is None else sock)
        if self._sock is not None:
            self._sock.settimeout(self.timeout.idle)

    def note_response(self, response: Any, **kwargs: Any) -> None:
        """Remember the response, as a hook of requests: it holds the connection from now on."""
        self.connection = response

    def abandon(self) -> None:
        """End the call without a reply: close its connection, whatever state it is in."""
        self.finish()
        self.hang_up()
        if self.connection is not None:
            self.connection.close()

    def hurry(self, seconds: float) -> None:
        """Have what is still to be read come within `seconds`."""
        self.end_in(seconds)
        if self._sock is not None:
            self._sock.settimeout(seconds)

    def end_in(self, seconds: Optional[float]) -> None:
        """Have every read of this call end within `seconds` from now, however its bytes drip."""
        self._end = None if seconds is None else time.monotonic() + seconds

    def limit(self, sock: Any, share: int = 1) -> None:
        """Give `sock` the time that is left, or one of `share` equal parts of it."""
        if self._end is None:
            if self.phase != "idle":
                sock.settimeout(None)
            return
        left = self._end - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        sock.settimeout(left / share)

    def _decide(self) -> bool:
        try:
            self._undecided.pop()
        except IndexError:
            return False
        return True


def shut_down(sock: Any) -> None:
    """Shut the connection under `sock` down, and leave the Python object as it is.

    `SSLSocket.shutdown` would take the TLS layer from under a thread that is reading.
    """
    with contextlib.suppress(OSError):  # closed, or not connected yet
        sock = getattr(sock, "socket", sock)  # TLS within TLS: the transport holds the socket
        raw = getattr(sock, "_sock", sock)  # gevent: its socket holds the real one
        if isinstance(raw, _socket.socket):
            _socket.socket.shutdown(raw, socket.SHUT_RDWR)


def _nothing() -> None:
    pass
