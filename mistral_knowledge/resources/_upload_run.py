"""What the caller of `Documents.upload_many` holds: outcomes as they come."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Callable, Iterator, List, Optional, Type, Union

from ..abort import AbortSignal
from ..errors import InvalidArgumentError, UploadsAbortedError
from ..models.folders import UploadOutcome
from ._folder import Found
from ._pool import Left, Pool

OnFiles = Callable[[int, Optional[int]], object]


class UploadRun:
    """The uploads of `client.documents.upload_many`: an iterator of `UploadOutcome`.

    >>> with client.documents.upload_many(library, "papers") as uploads:  # doctest: +SKIP
    ...     for outcome in uploads:
    ...         print(outcome.path, outcome.status)

    Outcomes come as the files are done, in whatever order. The first upload begins when the first
    outcome is asked for. Leaving the loop, the `with` block or the last reference to it stops at
    once: nothing more begins, what runs is aborted. `close()` may come from any thread.

    uploaded, already_there, failed: how many files of each outcome there are so far
    done: the paths that have an outcome, in the order in which they came to it

    Raises while it is read: UploadsAbortedError once the signal is aborted; ConfigurationError
    where nothing could be sent at all; what the iterable of paths raises.
    """

    def __init__(
        self,
        upload: Callable[[Found, AbortSignal], UploadOutcome],
        files: Any,
        workers: int,
        signal: Optional[AbortSignal],
        on_progress: Optional[OnFiles] = None,
        total: Optional[int] = None,
        on_end: Callable[[], object] = lambda: None,
    ) -> None:
        self.uploaded = self.already_there = self.failed = 0
        self.done: List[Union[str, os.PathLike[str]]] = []
        self._on_progress = on_progress
        self._on_end = on_end
        self._total = total
        self._turn: List[None] = [None]
        self._ended = self._looped = False
        self._pool: Pool[Found, UploadOutcome] = Pool(upload, files, workers, signal)

    def not_done(self) -> Iterator[Any]:
        """The paths without an outcome: those that were begun, then all that were not read yet."""
        return (file.path for file in self._pool.rest())

    def close(self) -> None:
        """Stop: nothing more begins, what runs is aborted. Safe to call again."""
        self._ended = True
        for outcome in self._pool.end():
            self._count(outcome)
        self._on_end()

    def __iter__(self) -> Iterator[UploadOutcome]:
        if self._looped:
            raise InvalidArgumentError(
                "these uploads were already looped over; call upload_many again for what is left"
            )
        self._looped = True
        return _guarded(self)

    def __next__(self) -> UploadOutcome:
        try:
            self._turn.pop()
        except IndexError:
            raise InvalidArgumentError(
                "another thread is reading these uploads; they have one reader"
            ) from None
        try:
            return self._next()
        finally:
            self._turn.append(None)

    def _next(self) -> UploadOutcome:
        if self._ended:
            raise StopIteration
        try:
            outcome = self._pool.take()
        except Left:
            self.close()
            raise self._aborted() from None
        except BaseException:
            self.close()
            raise
        if outcome is None:
            self._ended = True
            self._on_end()
            raise StopIteration
        self._count(outcome)
        if self._on_progress is not None:
            self._on_progress(len(self.done), self._total)
        return outcome

    def _count(self, outcome: UploadOutcome) -> None:
        self.done.append(outcome.path)
        setattr(self, outcome.status, getattr(self, outcome.status) + 1)

    def _aborted(self) -> UploadsAbortedError:
        begun = [file.path for file in self._pool.under_way()]
        return UploadsAbortedError.of(self.done, begun, self._pool.reason)

    def __enter__(self) -> UploadRun:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        pool = getattr(self, "_pool", None)
        if pool is not None:
            pool.stop()

    def __repr__(self) -> str:
        return (
            f"<UploadRun {'ended' if self._ended else 'open'}, {self.uploaded} uploaded, "
            f"{self.already_there} already there, {self.failed} failed>"
        )


def _guarded(run: UploadRun) -> Iterator[UploadOutcome]:
    """A loop over `run` that stops it however it is left."""
    try:
        while True:
            try:
                outcome = next(run)
            except StopIteration:
                return
            yield outcome
    finally:
        run.close()
