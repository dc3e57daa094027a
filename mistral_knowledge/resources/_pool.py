"""Threads that do the same for many items, with results as they come and an end at any moment.

Not `concurrent.futures`: its threads are waited for when the interpreter ends, also those that hang
in an upload. Ours are daemons, and none outlives `end`.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from typing import Any, Callable, Dict, Generic, Iterable, Iterator, List, Optional, TypeVar

from ..abort import AbortSignal

Item = TypeVar("Item")
Result = TypeVar("Result")

Do = Callable[[Item, AbortSignal], Result]

# How long `end` waits for threads whose calls cannot be aborted, such as those of a user's Session.
PATIENCE = 5.0
_AHEAD = 2


class Left(Exception):
    """The signal ended the work."""


class Pool(Generic[Item, Result]):
    """Does `do(item, signal)` in up to `workers` threads; `take` gives the results as they come.

    Items are read in the thread that takes, and only as many as are needed: at most twice the
    workers are ahead of it, so that whoever takes slowly holds up everything.
    """

    def __init__(
        self,
        do: Do[Item, Result],
        items: Iterable[Item],
        workers: int,
        signal: Optional[AbortSignal] = None,
    ) -> None:
        self._do = do
        self._items = iter(items)
        self._workers = workers
        self._stop = AbortSignal()
        self._given = signal
        self.signal = AbortSignal.any(signal, self._stop)
        # No timeouts, and so none of the faults that SimpleQueue's have: see `abort`.
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads: List[threading.Thread] = []
        self._under_way: Dict[object, Item] = {}
        results = self._results
        self._forget = self.signal.add_callback(lambda: results.put(None))

    def take(self) -> Optional[Result]:
        """The next result, or None at the end. Raises Left, and what `do` raises, as it is."""
        while True:
            if self.signal.aborted:
                raise Left
            if self._results.empty() and self._feed():
                continue
            if not self._under_way:
                self.end()
                return None
            got = self._results.get()
            if got is not None:
                result: Result = self._result(*got)
                return result

    @property
    def reason(self) -> Any:
        """Why it was aborted from outside."""
        return self._given.reason if self._given is not None else None

    def rest(self) -> Iterator[Item]:
        """The items without a result: those that were under way, then those not yet read."""
        yield from self._under_way.values()
        yield from self._items

    def under_way(self) -> List[Item]:
        """The items that were read and have no result."""
        return list(self._under_way.values())

    def stop(self) -> None:
        """Let nothing more begin, and abort what runs; returns at once, safe in any thread."""
        self._stop.abort("stopped")
        self._forget()
        for _ in self._threads:
            self._tasks.put(None)

    def end(self) -> List[Result]:
        """Stop, wait for the threads, and return the results that nobody took."""
        self.stop()
        until = time.monotonic() + PATIENCE
        for thread in self._threads:
            # One that `take` is just starting is waited for where that is called.
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        return list(self._untaken())

    def _untaken(self) -> Iterator[Result]:
        with contextlib.suppress(queue.Empty):
            while True:
                got = self._results.get_nowait()
                if got is not None and got[2] is None:
                    yield self._result(*got)

    def _result(self, token: object, result: Any, crash: Optional[BaseException]) -> Any:
        if crash is not None:
            if self.signal.aborted:
                raise Left
            raise crash
        del self._under_way[token]
        return result

    def _feed(self) -> bool:
        """Hand one more item to the threads; False if there is none, or enough are under way."""
        if len(self._under_way) >= _AHEAD * self._workers:
            return False
        for item in self._items:
            token = object()
            self._under_way[token] = item
            self._tasks.put((token, item))
            if len(self._threads) < self._workers:
                self._start()
            return True
        return False

    def _start(self) -> None:
        work = (self._tasks, self._results, self._do, self.signal)
        name = f"mistral_knowledge-worker-{len(self._threads) + 1}"
        # It gets parts of the pool, not the pool: a dropped pool has to be noticed.
        thread = threading.Thread(target=_work, args=work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()


def _work(
    tasks: queue.SimpleQueue[Any],
    results: queue.SimpleQueue[Any],
    do: Do[Any, Any],
    signal: AbortSignal,
) -> None:
    for token, item in iter(tasks.get, None):
        if not signal.aborted:
            results.put((token, *_tried(do, item, signal)))


def _tried(do: Do[Any, Any], item: Any, signal: AbortSignal) -> Any:
    try:
        return do(item, signal), None
    except BaseException as error:  # noqa: BLE001 - the thread that takes raises it, as it is
        return None, error


def each(pool: Pool[Item, Result]) -> Iterator[Result]:
    """All results; the pool is ended however the loop is left."""
    try:
        while True:
            result = pool.take()
            if result is None:
                return
            yield result
    finally:
        pool.end()
