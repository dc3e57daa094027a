"""One answer of very many events, in flat memory: `python -m soak.stream EVENTS`."""

from __future__ import annotations

import json
import sys
import time
from typing import Any, Dict, Iterator

from mistral_knowledge import KnowledgeClient, MessageEvent
from mistral_knowledge.settings import Settings

from .figures import MIB, finish, memory

PACKET = 64
# What stays is the text: one small string for each piece of it.
MOST_BYTES_AN_EVENT = 100


class Long:
    """A transport whose answer has `events` pieces of text; it makes them as they are read."""

    needs_key = False

    def __init__(self, events: int) -> None:
        self.events = events

    def send(self, request: object) -> LongReply:
        """The answer."""
        return LongReply(self.events)

    def close(self) -> None:
        """Nothing is held."""


class LongReply:
    """The body: events, the end mark, `[DONE]`."""

    status = 200
    headers = {"content-type": "text/event-stream"}

    def __init__(self, events: int) -> None:
        self.events = events

    def __iter__(self) -> Iterator[bytes]:
        packet = b"".join(_event({"delta": {"content": f" word{one}"}}) for one in range(PACKET))
        for _ in range(self.events // PACKET):
            yield packet
        yield _event({"delta": {"content": ""}, "finish_reason": "stop"}) + b"data: [DONE]\n\n"

    def close(self) -> None:
        """Nothing is held."""


def main(events: int) -> None:
    """Read it to its end."""
    _read(PACKET * 10)
    before, began, whole = memory(), time.monotonic(), events // PACKET * PACKET
    came = _read(whole)
    grown, seconds = memory() - before, time.monotonic() - began
    said = (
        f"{came:,} events in {seconds:.1f} s, {seconds / events * 1e6:.1f} us each; "
        f"memory grew by {grown / MIB:.1f} MiB, {grown / events:.0f} bytes an event"
    )
    problems = [] if came == whole else [f"{whole:,} events were sent"]
    if grown > MOST_BYTES_AN_EVENT * events:
        problems.append(f"more than {MOST_BYTES_AN_EVENT} bytes stay of each event")
    finish("stream", said, problems)


def _read(events: int) -> int:
    transport: Any = Long(events)
    came = 0
    client = KnowledgeClient(transport=transport, settings=Settings())
    with client.rag.stream("Why?", libraries="id-1") as stream:
        for event in stream:
            came += isinstance(event, MessageEvent)
    return came


def _event(choice: Dict[str, Any]) -> bytes:
    chunk = {"id": "cmpl-1", "model": "m", "choices": [{"index": 0, **choice}]}
    return b"data: " + json.dumps(chunk).encode("ascii") + b"\n\n"


if __name__ == "__main__":
    main(int(sys.argv[1]))
