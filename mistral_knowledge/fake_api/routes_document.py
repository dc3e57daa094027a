"""/v1/libraries/{id}/documents/{id}: get, change, delete, text, status, signed URLs, reprocess."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Dict, List

from .call import Call
from .checks import Field
from .documents import document_row, drop_document, polled, status_of, wire_document, wire_status
from .exchange import ApiReply, empty_reply, json_reply
from .parts import Parts
from .problems import detail, invalid, issue
from .routing import Route

_CHANGES = {
    "name": Field("str", nullable=False),
    "attributes": Field("object"),
    "expires_at": Field("time"),
}


def _get(parts: Parts, call: Call) -> ApiReply:
    return json_reply(wire_document(polled(parts, **_ids(call))))


def _change(parts: Parts, call: Call) -> ApiReply:
    row, body = document_row(parts, **_ids(call)), call.object(_CHANGES)
    if body.get("attributes") is not None:
        body["attributes"] = json.dumps(_checked(body["attributes"]))
    parts.store.update("documents", row["id"], **body)
    return json_reply(wire_document(document_row(parts, **_ids(call))))


def _checked(attributes: Dict[str, Any]) -> Dict[str, Any]:
    issues = [
        issue(["body", "attributes", name], "value_error", "Input is not a plain value", value)
        for name, value in attributes.items()
        if not all(isinstance(v, (bool, str, int, float)) for v in _values(value))
    ]
    if issues:
        raise invalid(issues)
    return attributes


def _values(value: Any) -> List[Any]:
    return value if isinstance(value, list) else [value]


def _delete(parts: Parts, call: Call) -> ApiReply:
    with parts.store.transaction():
        drop_document(parts, document_row(parts, **_ids(call)))
    return empty_reply()


def _text(parts: Parts, call: Call) -> ApiReply:
    row = _readable(parts, call)
    first = call.number("page_start", 1) or 1
    last = call.number("page_end", None)
    pages = parts.store.rows(
        "SELECT text FROM pages WHERE document_id = ? AND number BETWEEN ? AND ? ORDER BY number",
        row["id"],
        first,
        row["number_of_pages"] if last is None else last,
    )
    return json_reply({"text": "\n\n".join(page["text"] for page in pages)})


def _readable(parts: Parts, call: Call) -> sqlite3.Row:
    row = document_row(parts, **_ids(call))
    if status_of(row) != "done":
        raise detail(404, "The text of this document is not available")
    return row


def _status(parts: Parts, call: Call) -> ApiReply:
    row = polled(parts, **_ids(call))
    return json_reply({"document_id": row["id"], **wire_status(row)})


def _signed_url(parts: Parts, call: Call) -> ApiReply:
    return json_reply(parts.links.make("original", document_row(parts, **_ids(call))["id"]))


def _text_url(parts: Parts, call: Call) -> ApiReply:
    return json_reply(parts.links.make("text", _readable(parts, call)["id"]))


def _reprocess(parts: Parts, call: Call) -> ApiReply:
    row, needed = document_row(parts, **_ids(call)), parts.options.polls_until_done
    parts.store.update("documents", row["id"], polls=0, polls_needed=needed + 1 if needed else 0)
    return empty_reply()


def _ids(call: Call) -> Dict[str, str]:
    return {name: call.names[name] for name in ("library_id", "document_id")}


_ONE = "/v1/libraries/{library_id}/documents/{document_id}"
ROUTES = [
    Route("GET", _ONE, _get),
    Route("PATCH", _ONE, _change),
    Route("PUT", _ONE, _change),
    Route("DELETE", _ONE, _delete),
    Route("GET", f"{_ONE}/text_content", _text),
    Route("GET", f"{_ONE}/status", _status),
    Route("GET", f"{_ONE}/signed-url", _signed_url),
    Route("GET", f"{_ONE}/extracted-text-signed-url", _text_url),
    Route("POST", f"{_ONE}/reprocess", _reprocess),
]
