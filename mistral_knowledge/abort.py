"""Stopping a call from outside: from another thread, a signal handler or a deadline.

`abort()` may run in a signal handler, which interrupts a thread at any point, so nothing here
takes a lock that the interrupted thread could hold: list and dict operations are atomic in
themselves. Who waits does so for a lock of its own that nobody but the abort releases. (Not for a
`queue.SimpleQueue`: before Python 3.13 its timeouts never end when a signal handler outlasts them,
on 3.8 short ones now and then without any.)
"""

from __future__ import annotations

import contextlib
import copy
import threading
import time
from typing import Any, Callable, Dict, List, Optional

from ._checks import items, refuse
from .errors import AbortedError, KnowledgeError

Callback = Callable[[], None]


class AbortSignal:
    """A switch that ends every call it was given to.

    >>> signal = AbortSignal()
    >>> signal.aborted
    False
    >>> signal.abort("the user pressed stop")
    >>> signal.aborted, signal.reason
    (True, 'the user pressed stop')

    One signal may serve many calls and threads; once aborted it stays so.
    """

    def __init__(self) -> None:
        self._unused: List[None] = [None]
        self._reason: Any = None
        self._callbacks: Dict[object, Callback] = {}

    @property
    def aborted(self) -> bool:
        """Whether it was aborted."""
        return not self._unused

    @property
    def reason(self) -> Any:
        """What was given to `abort`, or None."""
        return self._reason

    def abort(self, reason: Any = None) -> None:
        """End every call that uses this signal; the first reason stays. Safe in signal handlers."""
        if self._unused and self._reason is None:
            self._reason = reason
        try:
            self._unused.pop()
        except IndexError:
            return
        for token in list(self._callbacks):
            self._run(token)

    def error(self) -> KnowledgeError:
        """What a call that this signal ended raises."""
        reason = self.reason
        if isinstance(reason, KnowledgeError):
            return copy.copy(reason)  # each raise gets a traceback of its own
        words = f"the call was aborted: {reason}" if reason else "the call was aborted"
        return AbortedError(words, reason)

    def raise_if_aborted(self) -> None:
        """Raise `error()` if it was aborted."""
        if self.aborted:
            raise self.error()

    def add_callback(self, callback: Callback) -> Callback:
        """Have `callback()` run once on abort, at once if that was already; for transports.

        It runs in whichever thread aborts, perhaps in a signal handler: it must not block, take a
        lock or raise. Returns a function that removes it again.
        """
        token = object()
        self._callbacks[token] = callback
        if self.aborted:
            self._run(token)
        return lambda: self._forget(token)

    def wait(self, seconds: Optional[float]) -> bool:
        """Block for `seconds` (None: for ever) or until aborted; returns whether it was aborted."""
        asleep = threading.Lock()
        asleep.acquire()
        remove = self.add_callback(asleep.release)
        try:
            asleep.acquire(timeout=_bearable(seconds))
        finally:
            remove()
        return self.aborted

    @staticmethod
    def timeout(seconds: float) -> AbortSignal:
        """A signal that aborts by itself `seconds` from now."""
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
            refuse("seconds", seconds, "a number")
        return Deadline(seconds, f"{seconds:g} s are over")

    @staticmethod
    def any(*signals: Optional[AbortSignal]) -> AbortSignal:
        """A signal that is aborted as soon as one of `signals` is (None is left out)."""
        given = [signal for signal in signals if signal is not None]
        return _AnyOf(items("signals", given, AbortSignal, "AbortSignals"))

    def _run(self, token: object) -> None:
        # Taking it out first makes it run once, whoever else tries.
        callback = self._callbacks.pop(token, None)
        if callback is not None:
            callback()

    def _forget(self, token: object) -> None:
        self._callbacks.pop(token, None)


class Deadline(AbortSignal):
    """Aborts itself `seconds` after it was made, with `reason`.

    It holds a thread only while somebody listens; nobody's deadline outlives its call, and a
    forked child is not left without its clock.
    """

    def __init__(self, seconds: float, reason: Any) -> None:
        super().__init__()
        self._end = time.monotonic() + seconds
        self._why = reason

    @property
    def aborted(self) -> bool:
        """Whether the time is over, or it was aborted before."""
        if self._unused and self.remaining() <= 0:
            self.abort(self._why)
        return not self._unused

    @property
    def reason(self) -> Any:
        """Why it ended, or None."""
        return self._reason if self.aborted else None

    def remaining(self) -> float:
        """Seconds left; 0 or less when the time is over."""
        return self._end - time.monotonic()

    def add_callback(self, callback: Callback) -> Callback:
        """As `AbortSignal.add_callback`; a daemon thread keeps the time until it is removed."""
        remove = super().add_callback(callback)
        if self.aborted:
            return remove
        stop = _start_timer(self.remaining(), lambda: self.abort(self._why))

        def forget() -> None:
            stop()
            remove()

        return forget


class _AnyOf(AbortSignal):
    def __init__(self, parents: List[AbortSignal]) -> None:
        super().__init__()
        self._parents = parents

    @property
    def aborted(self) -> bool:
        if not self._unused:
            return True
        for parent in self._parents:  # noqa: SIM110 - asked for every event: no generator
            if parent.aborted:
                return True
        return False

    @property
    def reason(self) -> Any:
        if not self._unused:
            return self._reason
        return next((parent.reason for parent in self._parents if parent.aborted), None)

    def add_callback(self, callback: Callback) -> Callback:
        once = _once(callback)
        sources = [super().add_callback] + [parent.add_callback for parent in self._parents]
        removers = [add(once) for add in sources]

        def forget() -> None:
            for remove in removers:
                remove()

        return forget


def _bearable(seconds: Optional[float]) -> float:
    """`seconds` as a lock takes them: it refuses what is below 0 or above its limit."""
    return -1 if seconds is None else min(max(0.0, seconds), threading.TIMEOUT_MAX)


def _once(callback: Callback) -> Callback:
    unused = [callback]

    def run() -> None:
        with contextlib.suppress(IndexError):
            unused.pop()()

    return run


def _start_timer(seconds: float, ring: Callback) -> Callback:
    """Run `ring` in a daemon thread after `seconds`; returns the function that calls it off."""
    running = threading.Lock()
    running.acquire()

    def keep_time() -> None:
        if not running.acquire(timeout=_bearable(seconds)):
            ring()

    threading.Thread(target=keep_time, name="mistral_knowledge-deadline", daemon=True).start()
    return _once(running.release)
