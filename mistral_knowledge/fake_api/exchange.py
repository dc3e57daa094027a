"""What goes into the in-memory API and what comes out: no socket, no transport, only bytes."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Mapping, Union

import attr


@attr.s(auto_attribs=True, slots=True, eq=False)
class ApiRequest:
    """One request as a server sees it.

    path: as on the wire, percent-encoded; query: the raw string without `?`;
    headers: lower-case names; body: bytes, or blocks of them. Only method and path are shown.
    """

    method: str
    path: str
    query: str = attr.ib(default="", repr=False)
    headers: Mapping[str, str] = attr.ib(factory=dict, repr=False)
    body: Union[bytes, Iterable[bytes]] = attr.ib(default=b"", repr=False)

    def blocks(self) -> Iterable[bytes]:
        """The body as blocks."""
        return [self.body] if isinstance(self.body, bytes) else self.body


@attr.s(auto_attribs=True, slots=True, eq=False)
class ApiReply:
    """One reply: its `pieces` are what a network would bring, each as a read of its own."""

    status: int
    headers: Dict[str, str] = attr.ib(factory=dict)
    pieces: Iterable[bytes] = attr.ib(default=(), repr=False)

    def body(self) -> bytes:
        """All pieces joined, for those who do not stream."""
        return b"".join(self.pieces)


def json_reply(payload: Any, status: int = 200) -> ApiReply:
    """A reply whose body is `payload` as compact JSON."""
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    return ApiReply(status, headers, [body])


def empty_reply(status: int = 204) -> ApiReply:
    """A reply without a body."""
    return ApiReply(status)
