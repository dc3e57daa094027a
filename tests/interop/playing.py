"""One reply for whoever asks: two clients get the same bytes."""

from __future__ import annotations

import contextlib
import json
from typing import Any, Dict, Iterator, List, Tuple

import attr
from mistralai.client import Mistral

from mistral_knowledge import KnowledgeClient
from mistral_knowledge.fake_api import ApiReply, ApiRequest
from mistral_knowledge.fake_api.server import serve

from .operations import KEY

Events = List[Tuple[str, Any]]


class Player:
    """Gives the reply that is set; in place of a `KnowledgeApi`."""

    base_url = ""

    def __init__(self) -> None:
        self._reply: Tuple[int, Dict[str, str], bytes] = (204, {}, b"")

    def set(self, reply: Any, status: int = 200) -> None:
        """A JSON payload; a list of (name, payload) is a stream of events, None no body."""
        if reply is None and status == 204:
            self._reply = (204, {}, b"")
        elif isinstance(reply, list) and reply and isinstance(reply[0], tuple):
            body = "".join(map(_event, reply)).encode("utf-8")
            self._reply = (200, {"content-type": "text/event-stream"}, body)
        else:
            body = json.dumps(reply, ensure_ascii=False).encode("utf-8")
            headers = {"content-type": "application/json", "content-length": str(len(body))}
            self._reply = (status, headers, body)

    def handle(self, request: ApiRequest) -> ApiReply:
        for _ in request.blocks():
            pass
        status, headers, body = self._reply
        return ApiReply(status, dict(headers), [body])


@attr.s(auto_attribs=True)
class Clients:
    """A player, and both clients at it."""

    player: Player
    official: Mistral
    ours: KnowledgeClient


def _event(event: Tuple[str, Any]) -> str:
    name, payload = event
    data = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return (f"event: {name}\n" if name else "") + f"data: {data}\n\n"


def events_in(body: bytes) -> Events:
    """The events of a stream, as `set_events` takes them."""
    found = []
    for block in body.decode("utf-8").strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        data = fields["data"]
        found.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found


@contextlib.contextmanager
def both_over() -> Iterator[Clients]:
    """Both clients at one player."""
    player: Any = Player()
    with serve(player) as server, KnowledgeClient(KEY, base_url=server.url, retries=0) as ours:
        yield Clients(player, Mistral(api_key=KEY, server_url=server.url), ours)
