"""Many files into a library: see `Documents.upload_many`."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Type, Union

import attr

from .._caller import Caller
from .._retry import Retry
from ..abort import AbortSignal
from ..errors import (
    ConfigurationError,
    InvalidArgumentError,
    KnowledgeError,
    ProcessingError,
    UploadsAbortedError,
)
from ..models.documents import Document
from ..models.folders import ALREADY_THERE, FAILED, UPLOADED, UploadOutcome
from ._arguments import CallOptions
from ._folder import Found, refuse_what_is_no_file
from ._gate import GatedTransport
from ._pool import Left, Pool

if TYPE_CHECKING:
    from .documents import Documents

OnFiles = Callable[[int, Optional[int]], object]

MOST_WORKERS = 100


def checked_workers(workers: int) -> int:
    """How many threads may upload at once."""
    if isinstance(workers, bool) or not isinstance(workers, int):
        raise InvalidArgumentError(f"workers={workers!r}: give a number")
    if not 1 <= workers <= MOST_WORKERS:
        raise InvalidArgumentError(f"workers={workers}: give 1 to {MOST_WORKERS}")
    return workers


def gated(caller: Caller, options: CallOptions) -> Caller:
    """A caller over the same transport whose calls all wait when the server asks one to."""
    retry = Retry.of(options.get("retries", caller.retry))
    return attr.evolve(caller, transport=GatedTransport(caller.transport, retry))


def upload_named(
    documents: Documents,
    library_id: str,
    file: Found,
    wait: Union[bool, float],
    options: Dict[str, Any],
) -> Document:
    """Upload one file, and see to it that the document has its name."""
    if file.problem is not None:
        raise file.problem
    refuse_what_is_no_file(file.path)
    document = documents.upload(library_id, file.path, name=file.name, wait=wait, **options)
    if not document.created or document.name is None or document.name == _sent(file.name):
        return document
    # Some servers cut the folders off a file's name, or keep it escaped.
    renamed = documents.update(document, name=file.name, **options)
    return attr.evolve(renamed, created=True)


def _sent(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")


def uploader(
    documents: Documents, library_id: str, wait: Union[bool, float], options: CallOptions
) -> Callable[[Found, AbortSignal], UploadOutcome]:
    """What a worker does with one file."""

    def upload(file: Found, signal: AbortSignal) -> UploadOutcome:
        try:
            document = upload_named(
                documents, library_id, file, wait, {**options, "signal": signal}
            )
        except ConfigurationError:
            raise  # no key, no usable proxy: it is not about this file, and none could be sent
        except (KnowledgeError, OSError) as error:
            signal.raise_if_aborted()
            there = error.document if isinstance(error, ProcessingError) else None
            return UploadOutcome(file.path, FAILED, there, error)
        status = ALREADY_THERE if document.created is False else UPLOADED
        return UploadOutcome(file.path, status, document)

    return upload


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
