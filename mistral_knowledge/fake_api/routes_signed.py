"""What signed URLs point at. No key is asked for: the signature is the key."""

from __future__ import annotations

import sqlite3
from typing import Optional

from .call import Call
from .exchange import ApiReply
from .parts import Parts
from .problems import detail, not_found
from .routing import Route

PREFIX = "/signed/"


def _fetch(parts: Parts, call: Call) -> ApiReply:
    kind, thing_id = call.names["kind"], call.names["thing_id"]
    expires, signature = call.text("expires") or "", call.text("signature") or ""
    if not parts.links.valid(kind, thing_id, expires, signature):
        raise detail(403, "The link is not valid, or not any more")
    if kind == "text":
        return _text(parts, thing_id)
    return _original(parts, "files" if kind == "file" else "documents", thing_id)


def _original(parts: Parts, table: str, thing_id: str) -> ApiReply:
    row = _found(parts.store.row(f"SELECT * FROM {table} WHERE id = ?", thing_id))
    mime, size = ("mimetype", "bytes") if table == "files" else ("mime_type", "size")
    headers = {"content-type": row[mime], "content-length": str(row[size])}
    return ApiReply(200, headers, parts.blobs.read(row["blob_id"]))


def _text(parts: Parts, document_id: str) -> ApiReply:
    _found(parts.store.row("SELECT id FROM documents WHERE id = ?", document_id))
    sql = "SELECT text FROM pages WHERE document_id = ? ORDER BY number"
    pages = [row["text"] for row in parts.store.rows(sql, document_id)]
    body = "\n\n".join(pages).encode("utf-8", "replace")
    headers = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body))}
    return ApiReply(200, headers, [body])


def _found(row: Optional[sqlite3.Row]) -> sqlite3.Row:
    if row is None:
        raise not_found("Document")
    return row


ROUTES = [Route("GET", PREFIX + "{kind}/{thing_id}", _fetch)]
