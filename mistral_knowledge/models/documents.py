"""A document of a library, and how far its processing is."""

import datetime
from typing import Any, Dict, Optional

import attr

from .._secrets import redact_url
from ._convert import register, required_text

DONE = frozenset({"done", "noop", "self_managed"})
FAILED = frozenset({"error", "missing_content"})
_LEGACY = {
    "completed": "done",
    "done": "done",
    "running": "in_progress",
    "failed": "error",
    "error": "error",
}


def _hidden(url: Optional[str]) -> str:
    return repr(redact_url(url)) if url else "None"


class _Processed:
    """What a document and its status have in common; an unknown status means: still running."""

    __slots__ = ()
    process_status: Optional[str]
    processing_status: Optional[str]

    @property
    def status(self) -> Optional[str]:
        """`process_status`, or where only the older `processing_status` came, its equivalent."""
        legacy = self.processing_status
        return self.process_status or (_LEGACY.get(legacy.lower(), legacy) if legacy else None)

    @property
    def is_done(self) -> bool:
        """Whether it is processed, so that questions find it."""
        return self.status in DONE

    @property
    def is_failed(self) -> bool:
        """Whether processing ended without success."""
        return self.status in FAILED


@register()
@attr.s(auto_attribs=True, slots=True)
class Document(_Processed):
    """A document of a library (`/v1/libraries/{id}/documents`).

    id, library_id: its ids
    name: its file name; mime_type, extension; size in bytes
    hash: the server's hash of its content
    process_status: `todo`, `in_progress`, `done`, `error`, ... as sent; see `status`,
        `is_done`, `is_failed`
    number_of_pages, summary, tokens_processing_total: once it is processed
    attributes: your own metadata
    created_at, last_processed_at, expires_at: aware datetimes
    created: True if an upload made it, False if the same content was already there, None if it
        does not come from an upload
    raw: the JSON as it came
    """

    id: str = attr.ib(validator=required_text)
    library_id: Optional[str] = None
    name: Optional[str] = None
    mime_type: Optional[str] = None
    extension: Optional[str] = None
    size: Optional[int] = None
    hash: Optional[str] = None
    process_status: Optional[str] = None
    processing_status: Optional[str] = attr.ib(default=None, repr=False)
    number_of_pages: Optional[int] = None
    summary: Optional[str] = attr.ib(default=None, repr=False)
    attributes: Optional[Dict[str, Any]] = attr.ib(default=None, repr=False)
    tokens_processing_total: Optional[int] = attr.ib(default=None, repr=False)
    uploaded_by_id: Optional[str] = attr.ib(default=None, repr=False)
    uploaded_by_type: Optional[str] = attr.ib(default=None, repr=False)
    url: Optional[str] = attr.ib(default=None, repr=_hidden)
    created_at: Optional[datetime.datetime] = None
    last_processed_at: Optional[datetime.datetime] = attr.ib(default=None, repr=False)
    expires_at: Optional[datetime.datetime] = attr.ib(default=None, repr=False)
    created: Optional[bool] = attr.ib(default=None, eq=False)
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers and status only: what may go into a log."""
        return {"library_id": self.library_id, "document_id": self.id, "status": self.status}

    def _repr_html_(self) -> str:
        from ..notebook._tables import item_html

        return item_html(self)

    def without_secrets(self) -> "Document":
        """A copy without URLs and raw JSON, for what is pickled into queues and logs."""
        return attr.evolve(self, url=None, raw={})


@register()
@attr.s(auto_attribs=True, slots=True)
class DocumentStatus(_Processed):
    """How far a document's processing is (`.../documents/{id}/status`).

    document_id: which document
    process_status: as sent; see `status`, `is_done`, `is_failed`
    raw: the JSON as it came
    """

    document_id: Optional[str] = None
    process_status: Optional[str] = None
    processing_status: Optional[str] = attr.ib(default=None, repr=False)
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers and status only: what may go into a log."""
        return {"document_id": self.document_id, "status": self.status}
