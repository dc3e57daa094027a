"""One server for two clients: it keeps each request and its reply, as they were on the wire."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple
from urllib.parse import parse_qsl

import attr

from mistral_knowledge.fake_api import ApiReply, ApiRequest, KnowledgeApi
from mistral_knowledge.fake_api.server import serve

# Fields of a sent request that belong to the client program, not to what it asks.
_COMPARED_HEADERS = ("accept", "content-type", "authorization")
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\b(?:conv|msg|ag|fc|fr|tool_exec|handoff)_[0-9a-f]{32}"
)
_DISPOSITION = re.compile(r'; (\w+)="([^"]*)"')

Sent = Dict[str, Any]


@attr.s(auto_attribs=True)
class Exchange:
    """A request and what came back for it."""

    request: ApiRequest
    body: bytes
    status: int
    reply: bytes


class Recorder:
    """The in-memory API with a record of what was asked; in place of a `KnowledgeApi`."""

    def __init__(self, api: KnowledgeApi) -> None:
        self.api = api
        self.exchanges: List[Exchange] = []

    @property
    def base_url(self) -> str:
        return self.api.base_url

    @base_url.setter
    def base_url(self, url: str) -> None:
        self.api.base_url = url

    def handle(self, request: ApiRequest) -> ApiReply:
        body = b"".join([request.body] if isinstance(request.body, bytes) else request.body)
        reply = self.api.handle(attr.evolve(request, body=body))
        pieces = list(reply.pieces)
        kept = Exchange(request, body, reply.status, b"".join(pieces))
        self.exchanges.append(kept)
        return attr.evolve(reply, pieces=pieces)

    def taken(self) -> List[Exchange]:
        """The exchanges since the last call."""
        taken, self.exchanges = self.exchanges, []
        return taken


@contextlib.contextmanager
def recorded(api: Optional[KnowledgeApi] = None) -> Iterator[Tuple[Recorder, str]]:
    """A recorder over `api`, served; and where."""
    api = api or KnowledgeApi(polls_until_done=0, seed=7)
    with api:
        recorder: Any = Recorder(api)
        with serve(recorder) as server:
            yield recorder, server.url


def as_sent(exchanges: Sequence[Exchange]) -> List[Sent]:
    """What was asked, field by field; ids are numbered in the order in which they turn up."""
    ids: Dict[str, str] = {}
    return [_fields(one, ids) for one in exchanges]


def _fields(exchange: Exchange, ids: Dict[str, str]) -> Sent:
    request = exchange.request
    sent = {"method": request.method, "path": _numbered(request.path, ids)}
    for name in _COMPARED_HEADERS:
        value = request.headers.get(name)
        sent[f"header {name}"] = value and value.partition(";")[0]
    query: Dict[str, Any] = {}
    for name, value in parse_qsl(request.query, keep_blank_values=True):
        query.setdefault(f"query {name}", []).append(_numbered(value, ids))
    return {**sent, **query, **_body_fields(exchange, ids)}


def _body_fields(exchange: Exchange, ids: Dict[str, str]) -> Sent:
    kind = exchange.request.headers.get("content-type", "")
    if kind.startswith("multipart/"):
        return _part_fields(exchange.body, kind.rpartition("boundary=")[2].encode("ascii"))
    if not kind.startswith("application/json") or not exchange.body:
        return {"body": exchange.body} if exchange.body else {}
    body = json.loads(_numbered(exchange.body.decode("utf-8"), ids))
    return {f"json {name}": value for name, value in _flat("", body, ids)}


def _flat(place: str, value: Any, ids: Dict[str, str]) -> Iterator[Tuple[str, Any]]:
    """(place, value) of everything that is no container, and of every empty one."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        here = f"{place}.{key}" if place else str(key)
        if isinstance(inner, (dict, list)) and inner:
            yield from _flat(here, inner, ids)
        elif key == "tool_call_id":
            yield here, ids.setdefault(inner, f"<{len(ids) + 1}>")
        else:
            yield here, inner


def _part_fields(body: bytes, boundary: bytes) -> Sent:
    opening, *parts, closing = body.split(b"--" + boundary)
    assert (opening, closing.strip()) == (b"", b"--")
    fields: Sent = {}
    for part in parts:
        head, _, content = part[2:-2].partition(b"\r\n\r\n")
        lines = dict(line.split(": ", 1) for line in head.decode("utf-8").split("\r\n"))
        headers = {name.lower(): value for name, value in lines.items()}
        named = dict(_DISPOSITION.findall(headers["content-disposition"]))
        name = named.pop("name")
        kind = headers.get("content-type")
        value = {"content": content, **named, **({"type": kind} if kind else {})}
        fields.update({f"part {name} {key}": one for key, one in value.items()})
        fields["parts"] = [*fields.get("parts", []), name]
    return fields


def _numbered(text: str, ids: Dict[str, str]) -> str:
    return _ID.sub(lambda match: ids.setdefault(match.group(), f"<{len(ids) + 1}>"), text)
