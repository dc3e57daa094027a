"""Waiting until a document is processed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional, Tuple

from .._caller import Options
from .._checks import callables
from ..abort import AbortSignal, Deadline
from ..errors import (
    InvalidArgumentError,
    KnowledgeError,
    NotFoundError,
    ProcessingError,
    ProcessingTimeoutError,
    RateLimitError,
    ServerError,
    TransportError,
)
from ..models.documents import Document
from ._arguments import CallOptions

if TYPE_CHECKING:
    from .documents import Documents

FIRST_INTERVAL = 0.5
LONGEST_INTERVAL = 10.0
GROWTH = 1.5

# A document that was just made may not be found for a moment, and any poll may fail.
_BORNE = (TransportError, NotFoundError, RateLimitError, ServerError)
_BORNE_IN_A_ROW = 5

OnStatus = Optional[Callable[[Document], object]]


def wait_until_processed(
    documents: Documents,
    ids: Tuple[str, str],
    seconds: float,
    on_status: OnStatus,
    options: CallOptions,
) -> Document:
    """Poll until the document is done; see `Documents.wait`."""
    Options(**options)  # what it refuses is refused before the first poll
    callables(on_status=on_status)
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not number or not seconds > 0:
        raise InvalidArgumentError(f"seconds={seconds!r}: give a time to wait, above 0")
    late = ProcessingTimeoutError(f"document {ids[1]} was not processed within {seconds:g} s")
    # As the reason of the signal it is what every step raises once the time is over, a hung
    # poll included.
    signal = AbortSignal.any(options.get("signal"), Deadline(seconds, late))
    polls = _Polls(documents, ids, {**options, "signal": signal})
    interval = FIRST_INTERVAL
    while True:
        document = polls.poll()
        if document is not None:
            late.document = document
            if on_status is not None:
                on_status(document)
            if _is_over(document):
                return document
        signal.wait(max(interval, polls.asked_pause))
        signal.raise_if_aborted()
        interval = min(LONGEST_INTERVAL, interval * GROWTH)


class _Polls:
    """Asks for the document, and bears a few failures in a row.

    asked_pause: the seconds that the server asked us to wait, at the last failure
    """

    def __init__(self, documents: Documents, ids: Tuple[str, str], options: CallOptions) -> None:
        self._documents = documents
        self._ids = ids
        self._options = options
        self._failures = 0
        self.asked_pause = 0.0

    def poll(self) -> Optional[Document]:
        """The document as it is now; None where that could not be learned."""
        self.asked_pause = 0.0
        try:
            document = self._documents.get(*self._ids, **self._options)
        except _BORNE as error:
            self._bear(error)
            return None
        self._failures = 0
        return document

    def _bear(self, error: KnowledgeError) -> None:
        self._failures += 1
        if self._failures > _BORNE_IN_A_ROW:
            raise error
        self.asked_pause = getattr(error, "retry_after", None) or 0.0


def _is_over(document: Document) -> bool:
    if document.is_failed:
        raise ProcessingError(
            f"document {document.id} could not be processed: status {document.status!r}", document
        )
    return document.is_done
