"""Many files into a library: see `Documents.upload_many`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Union

import attr

from .._caller import Caller
from .._retry import Retry
from ..abort import AbortSignal
from ..errors import (
    ConfigurationError,
    InvalidArgumentError,
    KnowledgeError,
    ProcessingError,
)
from ..models.documents import Document
from ..models.folders import ALREADY_THERE, FAILED, UPLOADED, UploadOutcome
from ._arguments import CallOptions
from ._folder import Found, refuse_what_is_no_file
from ._gate import GatedTransport

if TYPE_CHECKING:
    from .documents import Documents

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
