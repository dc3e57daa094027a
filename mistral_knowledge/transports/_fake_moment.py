"""The time of a faked call, and what ends it from outside."""

from __future__ import annotations

import queue
from typing import Optional, Tuple

from ..abort import AbortSignal
from ..errors import AbortedError, RequestTimeoutError
from . import Timeout


class FakeClock:
    """Seconds that pass only where a script says so; `now` starts at 0."""

    def __init__(self) -> None:
        self.now = 0.0

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class Moment:
    """What a step may act on: the limits of its call, and what ends it from outside."""

    def __init__(self, clock: FakeClock, timeout: Timeout, signal: Optional[AbortSignal]) -> None:
        self._clock = clock
        self._timeout = timeout
        self._signal = signal
        self._woken: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._start = self._last = clock.now
        self._limit: Tuple[Optional[float], str] = (timeout.first_byte, "first_byte")
        self.closed = False

    def headers_are_in(self) -> None:
        """From here on it is the idle limit that counts."""
        self._limit = (self._timeout.idle, "idle")
        self.something_came()

    def something_came(self) -> None:
        """The idle time starts anew."""
        self._last = self._clock.now

    def pass_time(self, seconds: float) -> None:
        """Let time pass, up to the first limit that it runs into."""
        target = self._clock.now + seconds
        limit, which = self._limit
        ends = [(self._last, limit, which), (self._start, self._timeout.total, "total")]
        due = [(start + length, name) for start, length, name in ends if length is not None]
        end, which = min(due, default=(target, ""))
        self._clock.now = min(end, target)
        if end < target:
            raise RequestTimeoutError(f"the {which} limit ran out", which)

    def check(self) -> None:
        """Raise what ended the call, if something did."""
        if self._signal is not None:
            self._signal.raise_if_aborted()
        if self.closed:
            raise AbortedError("the reply was closed while it was read")

    def wait(self) -> None:
        """Block until the call is ended from outside, then raise why."""
        remove = self._signal.add_callback(self._wake) if self._signal is not None else None
        try:
            while True:
                self.check()
                self._woken.get()
        finally:
            if remove is not None:
                remove()

    def close(self) -> None:
        """End the call; from any thread."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        self._woken.put(None)
