"""/v1/libraries/{id}/share: who else may use a library."""

from __future__ import annotations

import sqlite3
from typing import Any, Dict, List, Optional

from .call import Call
from .checks import Field
from .exchange import ApiReply, empty_reply, json_reply
from .parts import ORG_ID, USER_ID, Parts
from .problems import detail, not_found
from .routes_libraries import library_row
from .routing import Route

_WHOM = {
    "share_with_uuid": Field("uuid", required=True, nullable=False),
    "share_with_type": Field(
        "str", required=True, nullable=False, choices=("User", "Workspace", "Org")
    ),
    "org_id": Field("uuid"),
}
_LEVEL = {"level": Field("str", required=True, nullable=False, choices=("Viewer", "Editor"))}
_HERE = "library_id = ? AND share_with_type = ? AND share_with_uuid = ?"


def _wire(row: sqlite3.Row) -> Dict[str, Any]:
    user = row["share_with_uuid"] if row["share_with_type"] == "User" else None
    names = ("library_id", "org_id", "role", "share_with_type", "share_with_uuid")
    return {"user_id": user, **{name: row[name] for name in names}}


def _list(parts: Parts, call: Call) -> ApiReply:
    library_id = library_row(parts, call.names["library_id"])["id"]
    rows = parts.store.rows("SELECT * FROM shares WHERE library_id = ? ORDER BY seq", library_id)
    return json_reply({"data": [_wire(row) for row in rows]})


def _share(parts: Parts, call: Call) -> ApiReply:
    body = call.object({**_WHOM, **_LEVEL})
    place = _place(parts, call, body)
    org_id = body.get("org_id") or ORG_ID
    with parts.store.transaction():
        if _row(parts, place) is None:
            parts.store.run(
                "INSERT INTO shares (library_id, share_with_type, share_with_uuid, role, org_id)"
                " VALUES (?, ?, ?, ?, ?)",
                *place,
                body["level"],
                org_id,
            )
        parts.store.run(f"UPDATE shares SET role = ? WHERE {_HERE}", body["level"], *place)
    row = _row(parts, place)
    return json_reply(_wire(row) if row is not None else {})


def _unshare(parts: Parts, call: Call) -> ApiReply:
    place = _place(parts, call, call.object(_WHOM))
    with parts.store.transaction():
        row = _row(parts, place)
        if row is None:
            raise not_found("Sharing")
        parts.store.run(f"DELETE FROM shares WHERE {_HERE}", *place)
    return empty_reply() if parts.options.announced_204 else json_reply(_wire(row))


def _place(parts: Parts, call: Call, body: Dict[str, Any]) -> List[str]:
    library_id = library_row(parts, call.names["library_id"])["id"]
    if body["share_with_uuid"] == USER_ID:
        raise detail(403, "The owner's own access cannot be changed")
    return [library_id, body["share_with_type"], body["share_with_uuid"].lower()]


def _row(parts: Parts, place: List[str]) -> Optional[sqlite3.Row]:
    return parts.store.row(f"SELECT * FROM shares WHERE {_HERE}", *place)


ROUTES = [
    Route("GET", "/v1/libraries/{library_id}/share", _list),
    Route("PUT", "/v1/libraries/{library_id}/share", _share),
    Route("DELETE", "/v1/libraries/{library_id}/share", _unshare),
]
