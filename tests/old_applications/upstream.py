"""Mistral as the old applications see it: each answer says what was asked."""

from __future__ import annotations

import json
from typing import List, Optional

from mistral_knowledge._loopback import Connection, Seen, Server, chunk, head
from mistral_knowledge.testing import Gate
from tests.answers.wire import chunk as delta, sse


class Upstream(Server):
    """Echoes the id of a file and the text of a question; the question `wait` stalls."""

    def __init__(self) -> None:
        super().__init__(self._serve_all)
        self.asked: List[str] = []
        self.stalled, self.left = Gate(), Gate()

    def _serve_all(self, connection: Connection) -> None:
        for seen in iter(connection.request, None):
            if self._answer(connection, seen) is not None:
                return

    def _answer(self, connection: Connection, seen: Seen) -> Optional[str]:
        if seen.method == "GET":
            body = seen.target.split("/")[3].encode()
            connection.send(head(content_length=len(body)) + body)
            return None
        question = json.loads(seen.body)["messages"][0]["content"]
        self.asked.append(question)
        connection.send(head(content_type="text/event-stream", transfer_encoding="chunked"))
        connection.send(chunk(sse(delta("you asked: "))))
        if question == "wait":
            self.stalled.open()
            connection.wait_for_end()
            self.left.open()
            return "end"
        rest = sse(delta(question), delta("", "stop", usage={"total_tokens": 1}), done=True)
        connection.send(chunk(rest) + chunk(b""))
        return None
