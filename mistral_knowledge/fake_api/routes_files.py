"""/v1/files: upload, list, get, content, signed URL, delete."""

from __future__ import annotations

import sqlite3
from typing import Any, Dict, List, Optional, Tuple

from .call import Call
from .exchange import ApiReply, json_reply
from .form import Form, optional_int, uploaded
from .paging import NAMED, page_of
from .parts import Parts, new_id
from .problems import invalid, issue, not_found
from .routing import Route
from .text import kind_of

_PURPOSES = {
    "fine-tune": "instruct",
    "batch": "batch_request",
    "ocr": "ocr_input",
    "audio": "audio",
    "agentic_safety": "agentic_safety",
}
_VISIBILITIES = ("workspace", "user")
_FILTERS = {
    "sample_type": "sample_type",
    "source": "source",
    "purpose": "purpose",
    "mimetypes": "mimetype",
}
_HIDDEN = ("seq", "blob_id")


def file_row(parts: Parts, file_id: str) -> sqlite3.Row:
    """The row of a file; 404 if there is none."""
    row = parts.store.row("SELECT * FROM files WHERE id = ?", file_id)
    if row is None:
        raise not_found("File")
    return row


def _wire(row: sqlite3.Row) -> Dict[str, Any]:
    fields = {name: row[name] for name in row.keys() if name not in _HIDDEN}  # noqa: SIM118
    return {**fields, "object": "file"}


def _upload(parts: Parts, call: Call) -> ApiReply:
    with uploaded(parts, call) as form:
        file_id = new_id()
        parts.store.insert("files", id=file_id, **_columns(parts, form))
    return json_reply(_wire(file_row(parts, file_id)))


def _columns(parts: Parts, form: Form) -> Dict[str, Any]:
    purpose = _field(form, "purpose", tuple(_PURPOSES), "fine-tune")
    now, hours = int(parts.clock()), optional_int(form, "expiry")
    kind = kind_of(form.filename, form.content_type)
    return {
        "blob_id": form.blob.id,
        "bytes": form.blob.size,
        "created_at": now,
        "filename": form.filename,
        "purpose": purpose,
        "sample_type": _PURPOSES[purpose],
        "source": "upload",
        "num_lines": _lines(parts, form, kind.extension),
        "mimetype": kind.mime_type,
        "signature": form.blob.hash[:32],
        "expires_at": now + hours * 3600 if hours else None,
        "visibility": _field(form, "visibility", _VISIBILITIES, "workspace"),
    }


def _field(form: Form, name: str, choices: Tuple[str, ...], default: str) -> str:
    value = form.fields.get(name, default)
    if value not in choices:
        words = "Input should be " + " or ".join(repr(choice) for choice in choices)
        raise invalid([issue(["body", name], "enum", words, value)])
    return value


def _lines(parts: Parts, form: Form, extension: str) -> int:
    if extension != "jsonl":
        return 0
    return sum(piece.count(b"\n") for piece in parts.blobs.read(form.blob.id))


def _list(parts: Parts, call: Call) -> ApiReply:
    page, (where, values) = page_of(call, largest=None), _filters(call)
    rows = parts.store.rows(
        f"SELECT * FROM files WHERE {where} ORDER BY seq DESC LIMIT ? OFFSET ?",
        *values,
        page.size,
        page.offset,
    )
    total = parts.store.number(f"SELECT count(*) FROM files WHERE {where}", *values)
    counted: Optional[int] = total if call.flag("include_total", True) else None
    return json_reply({"data": [_wire(row) for row in rows], "object": "list", "total": counted})


def _filters(call: Call) -> Tuple[str, List[str]]:
    terms, values = ["1"], []
    for name, column in _FILTERS.items():
        wanted = [value for value in call.all_of(name) if value]
        if wanted:
            terms.append(f"{column} IN ({', '.join('?' for _ in wanted)})")
            values += wanted
    search = call.text("search")
    if search:
        terms.append(NAMED.format("filename"))
        values.append(search)
    return " AND ".join(terms), values


def _get(parts: Parts, call: Call) -> ApiReply:
    return json_reply({**_wire(file_row(parts, call.names["file_id"])), "deleted": False})


def _delete(parts: Parts, call: Call) -> ApiReply:
    with parts.store.transaction():
        row = file_row(parts, call.names["file_id"])
        parts.store.run("DELETE FROM files WHERE id = ?", row["id"])
        parts.blobs.delete(row["blob_id"])
    return json_reply({"id": row["id"], "object": "file", "deleted": True})


def _content(parts: Parts, call: Call) -> ApiReply:
    row = file_row(parts, call.names["file_id"])
    headers = {"content-type": "application/octet-stream", "content-length": str(row["bytes"])}
    return ApiReply(200, headers, parts.blobs.read(row["blob_id"]))


def _url(parts: Parts, call: Call) -> ApiReply:
    hours = call.number("expiry", 24, 1, 168) or 24
    row = file_row(parts, call.names["file_id"])
    return json_reply({"url": parts.links.make("file", row["id"], hours * 3600)})


ROUTES = [
    Route("POST", "/v1/files", _upload),
    Route("GET", "/v1/files", _list),
    Route("GET", "/v1/files/{file_id}", _get),
    Route("DELETE", "/v1/files/{file_id}", _delete),
    Route("GET", "/v1/files/{file_id}/content", _content),
    Route("GET", "/v1/files/{file_id}/url", _url),
]
