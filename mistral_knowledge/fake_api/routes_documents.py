"""/v1/libraries/{id}/documents: upload and list."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Dict, Tuple

from .call import Call
from .documents import add_document, document_row, read_blob, wire_document
from .exchange import ApiReply, json_reply
from .form import Form, uploaded
from .paging import NAMED, page_of
from .parts import Parts
from .problems import invalid, issue
from .routes_libraries import library_row
from .routing import Route
from .text import kind_of

_SORTED_BY = (
    "created_at",
    "name",
    "size",
    "extension",
    "mime_type",
    "number_of_pages",
    "last_processed_at",
    "expires_at",
)


def _upload(parts: Parts, call: Call) -> ApiReply:
    library_id = library_row(parts, call.names["library_id"])["id"]
    with uploaded(parts, call) as form:
        document_id, status = _added(parts, library_id, form)
    if status == 200:
        parts.blobs.delete(form.blob.id)
    return json_reply(wire_document(document_row(parts, library_id, document_id)), status)


def _added(parts: Parts, library_id: str, form: Form) -> Tuple[str, int]:
    kind = kind_of(form.filename, form.content_type)
    reading = read_blob(parts, form.blob, kind)
    with parts.store.transaction():
        library_row(parts, library_id)
        sql = "SELECT id FROM documents WHERE library_id = ? AND hash = ?"
        same = parts.store.row(sql, library_id, form.blob.hash)
        if same is not None:
            return same["id"], 200
        return add_document(parts, library_id, form, reading, kind), 201


def _list(parts: Parts, call: Call) -> ApiReply:
    library_id, page = library_row(parts, call.names["library_id"])["id"], page_of(call)
    found = f"FROM documents WHERE library_id = ? AND {NAMED.format('name')}"
    values = (library_id, call.text("search") or "")
    wanted = _wanted_attributes(call)
    sql = f"SELECT * {found} {_order(call)}"
    if wanted:
        every = [row for row in parts.store.rows(sql, *values) if _has(row, wanted)]
        rows, total = every[page.offset : page.offset + page.size], len(every)
    else:
        rows = parts.store.rows(f"{sql} LIMIT ? OFFSET ?", *values, page.size, page.offset)
        total = parts.store.number(f"SELECT count(*) {found}", *values)
    data = [wire_document(row) for row in rows]
    return json_reply({"pagination": page.info(total), "data": data})


def _order(call: Call) -> str:
    column = call.choice("sort_by", _SORTED_BY, "created_at")
    order = call.choice("sort_order", ("asc", "desc"), "desc")
    return f"ORDER BY {column} {order}, seq {order}"


def _wanted_attributes(call: Call) -> Dict[str, Any]:
    """What `filters_attributes` asks for: a JSON object of values to be equal."""
    text = call.text("filters_attributes")
    try:
        return dict(json.loads(text)) if text else {}
    except (ValueError, TypeError):
        place = ["query", "filters_attributes"]
        raise invalid([issue(place, "json_invalid", "Invalid JSON", text)]) from None


def _has(row: sqlite3.Row, wanted: Dict[str, Any]) -> bool:
    attributes = json.loads(row["attributes"] or "{}")
    return all(attributes.get(name) == value for name, value in wanted.items())


ROUTES = [
    Route("POST", "/v1/libraries/{library_id}/documents", _upload),
    Route("GET", "/v1/libraries/{library_id}/documents", _list),
]
