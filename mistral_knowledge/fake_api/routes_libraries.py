"""/v1/libraries: create, list by token or by page, get, change, delete."""

from __future__ import annotations

import sqlite3
from typing import Any, Dict, List, Tuple

from .call import Call
from .checks import Field
from .documents import drop_document
from .exchange import ApiReply, empty_reply, json_reply
from .paging import NAMED, page_of, seq_of_token, token_after
from .parts import USER_ID, Parts, new_id
from .problems import not_found
from .routing import Route

_CHANGES = {"name": Field("str", nullable=False), "description": Field("str")}
_NEW = {
    "name": Field("str", required=True, nullable=False),
    "description": Field("str"),
    "chunk_size": Field("int", low=256, high=32768),
    "owner_type": Field("str", choices=("User", "Workspace")),
}
_UNUSED = {
    "emoji": None,
    "generated_name": None,
    "generated_description": None,
    "explicit_user_members_count": None,
    "explicit_workspace_members_count": None,
    "org_sharing_role": None,
}
_ROWS = """
SELECT libraries.*,
       (SELECT count(*) FROM documents WHERE library_id = libraries.id) AS nb_documents,
       (SELECT coalesce(sum(size), 0) FROM documents WHERE library_id = libraries.id) AS total_size
FROM libraries
"""


def library_row(parts: Parts, library_id: str) -> sqlite3.Row:
    """The row of a library; 404 if there is none."""
    row = parts.store.row(f"{_ROWS} WHERE id = ?", library_id)
    if row is None:
        raise not_found("Library")
    return row


def _wire(row: sqlite3.Row) -> Dict[str, Any]:
    fields = {name: row[name] for name in row.keys() if name != "seq"}  # noqa: SIM118
    return {**fields, **_UNUSED}


def _create(parts: Parts, call: Call) -> ApiReply:
    body, library_id, now = call.object(_NEW), new_id(), parts.now()
    parts.store.insert(
        "libraries",
        id=library_id,
        name=body["name"],
        description=body.get("description"),
        chunk_size=body.get("chunk_size"),
        created_at=now,
        updated_at=now,
        owner_id=USER_ID,
        owner_type=body.get("owner_type") or "User",
    )
    return json_reply(_wire(library_row(parts, library_id)), 201)


def _list(parts: Parts, call: Call) -> ApiReply:
    call.flag("filter_owned_by_me", False)
    token = call.text("page_token")
    if not token and call.text("page") is not None:
        return _numbered_page(parts, call)
    before = [seq_of_token(token)] if token else []
    return json_reply(_token_page(parts, call, before))


def _token_page(parts: Parts, call: Call, before: List[int]) -> Dict[str, Any]:
    where, values = _search(call)
    where += " AND seq < ?" if before else ""
    size = page_of(call).size
    sql = f"{_ROWS} WHERE {where} ORDER BY seq DESC LIMIT ?"
    rows = parts.store.rows(sql, *values, *before, size + 1)
    more = token_after(rows[size - 1]["seq"]) if len(rows) > size else None
    return {"data": [_wire(row) for row in rows[:size]], "next_page_token": more}


def _numbered_page(parts: Parts, call: Call) -> ApiReply:
    page, (where, values) = page_of(call), _search(call)
    total = parts.store.number(f"SELECT count(*) FROM libraries WHERE {where}", *values)
    sql = f"{_ROWS} WHERE {where} ORDER BY seq DESC LIMIT ? OFFSET ?"
    rows = parts.store.rows(sql, *values, page.size, page.offset)
    info = page.info(total)
    more = token_after(rows[-1]["seq"]) if info["has_more"] and rows else None
    data = [_wire(row) for row in rows]
    return json_reply({"data": data, "next_page_token": more, "pagination": info})


def _search(call: Call) -> Tuple[str, List[str]]:
    search = call.text("search")
    return (NAMED.format("name"), [search]) if search else ("1", [])


def _get(parts: Parts, call: Call) -> ApiReply:
    return json_reply(_wire(library_row(parts, call.names["library_id"])))


def _change(parts: Parts, call: Call) -> ApiReply:
    library_id = library_row(parts, call.names["library_id"])["id"]
    parts.store.update("libraries", library_id, **call.object(_CHANGES), updated_at=parts.now())
    return _get(parts, call)


def _delete(parts: Parts, call: Call) -> ApiReply:
    with parts.store.transaction():
        row = library_row(parts, call.names["library_id"])
        for document in parts.store.rows("SELECT * FROM documents WHERE library_id = ?", row["id"]):
            drop_document(parts, document)
        parts.store.run("DELETE FROM shares WHERE library_id = ?", row["id"])
        parts.store.run("DELETE FROM libraries WHERE id = ?", row["id"])
    return empty_reply() if parts.options.announced_204 else json_reply(_wire(row))


ROUTES = [
    Route("POST", "/v1/libraries", _create),
    Route("GET", "/v1/libraries", _list),
    Route("GET", "/v1/libraries/{library_id}", _get),
    Route("PATCH", "/v1/libraries/{library_id}", _change),
    Route("PUT", "/v1/libraries/{library_id}", _change),
    Route("DELETE", "/v1/libraries/{library_id}", _delete),
]
