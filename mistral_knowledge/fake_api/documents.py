"""Documents: how they are read, stored, processed step by step, and shown."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Dict, List

import attr

from .blobs import Blob
from .form import Form
from .parts import USER_ID, Parts, new_id
from .problems import not_found
from .text import LONGEST, Kind, may_be_text, pages_of
from .tokens import count_tokens
from .unreadable import Unreadable

_LEGACY = {"done": "Completed", "error": "Error", "missing_content": "Error"}
_SUMMARY = 200
_PLAIN = (
    "id",
    "library_id",
    "hash",
    "mime_type",
    "extension",
    "size",
    "name",
    "created_at",
    "expires_at",
)
_WHEN_DONE = (
    "summary",
    "last_processed_at",
    "number_of_pages",
    "tokens_processing_main_content",
    "tokens_processing_summary",
)


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Reading:
    """What came of reading a file: its pages, and the status it will end in."""

    pages: List[str]
    outcome: str


def read_blob(parts: Parts, blob: Blob, kind: Kind) -> Reading:
    """Read a stored file. It takes a while for a long PDF, so do it outside of transactions."""
    if not blob.size:
        return Reading([], "missing_content")
    try:
        return Reading(_pages(parts, blob, kind), "done")
    except Unreadable:
        return Reading([], "error")


def _pages(parts: Parts, blob: Blob, kind: Kind) -> List[str]:
    if blob.size > LONGEST or not may_be_text(parts.blobs.start(blob.id)):
        raise Unreadable("it is too long, or no text")
    return pages_of(b"".join(parts.blobs.read(blob.id)), kind)


def add_document(parts: Parts, library_id: str, form: Form, reading: Reading, kind: Kind) -> str:
    """Store a document with its text and its passages, within a transaction; returns its id."""
    document_id, text = new_id(), "\n\n".join(reading.pages)
    summary = " ".join(text.split())[:_SUMMARY]
    needed = parts.options.polls_until_done
    parts.store.insert(
        "documents",
        id=document_id,
        library_id=library_id,
        blob_id=form.blob.id,
        hash=form.blob.hash,
        mime_type=kind.mime_type,
        extension=kind.extension or None,
        size=form.blob.size,
        name=form.filename,
        summary=summary or None,
        created_at=parts.now(),
        last_processed_at=parts.now(),
        number_of_pages=len(reading.pages) or None,
        outcome=reading.outcome,
        polls=0,
        polls_needed=needed + 1 if needed else 0,
        tokens_processing_main_content=count_tokens(text),
        tokens_processing_summary=count_tokens(summary),
    )
    for number, page in enumerate(reading.pages, 1):
        parts.store.insert("pages", document_id=document_id, number=number, text=page)
    parts.retrieval.add(library_id, document_id, reading.pages)
    return document_id


def drop_document(parts: Parts, row: sqlite3.Row) -> None:
    """Remove a document and all that belongs to it, within a transaction."""
    parts.retrieval.remove(row["id"])
    parts.blobs.delete(row["blob_id"])
    parts.store.run("DELETE FROM pages WHERE document_id = ?", row["id"])
    parts.store.run("DELETE FROM documents WHERE id = ?", row["id"])


def document_row(parts: Parts, library_id: str, document_id: str) -> sqlite3.Row:
    """The row of a document; 404 if it is not in that library."""
    sql = "SELECT * FROM documents WHERE library_id = ? AND id = ?"
    row = parts.store.row(sql, library_id, document_id)
    if row is None:
        raise not_found("Document")
    return row


def polled(parts: Parts, library_id: str, document_id: str) -> sqlite3.Row:
    """The row of a document somebody looks at, which moves its processing one step on."""
    sql = "UPDATE documents SET polls = polls + 1 WHERE id = ? AND polls < polls_needed"
    parts.store.run(sql, document_id)
    return document_row(parts, library_id, document_id)


def status_of(row: sqlite3.Row) -> str:
    """Its `process_status`: todo, in_progress, then what came of it."""
    if row["polls"] >= row["polls_needed"]:
        return str(row["outcome"])
    return "in_progress" if row["polls"] else "todo"


def wire_status(row: sqlite3.Row) -> Dict[str, Any]:
    """The status in its new and its legacy form."""
    status = status_of(row)
    return {"process_status": status, "processing_status": _LEGACY.get(status, "Running")}


def wire_document(row: sqlite3.Row) -> Dict[str, Any]:
    """A document as the API shows it."""
    done = status_of(row) == row["outcome"]
    document = {name: row[name] for name in _PLAIN}
    document.update({name: row[name] if done else None for name in _WHEN_DONE})
    main, summary = (document[name] or 0 for name in _WHEN_DONE[-2:])
    return {
        **document,
        **wire_status(row),
        "uploaded_by_id": USER_ID,
        "uploaded_by_type": "User",
        "tokens_processing_total": main + summary,
        "url": None,
        "attributes": json.loads(row["attributes"]) if row["attributes"] else None,
    }
