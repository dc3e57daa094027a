"""A stream that is cut at any byte: an answer only once its end mark is in, and never before."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import pytest

from mistral_knowledge import AnswerTruncatedError, Event, FinalAnswerEvent, KnowledgeClient
from mistral_knowledge._loopback import Connection, Server, chunk, head
from mistral_knowledge._scenarios import LONG

from .serving import CHAT, CONVERSATION, ID, OPERATIONS, balanced

BODIES = {
    # (body, where its end mark is in)
    "chat": (CHAT, CHAT.index(b"\n\n", CHAT.index(b'"stop"')) + 2),
    "conversation": (CONVERSATION, len(CONVERSATION)),
}


def whole(body: bytes, kind: str) -> bytes:
    """As the wire has it, all of it."""
    if kind == "length":
        return head(content_type="text/event-stream", content_length=len(body)) + body
    if kind == "close":
        return head(content_type="text/event-stream", connection="close") + body
    start = head(content_type="text/event-stream", transfer_encoding="chunked")
    return start + b"".join(chunk(body[n : n + 50]) for n in range(0, len(body), 50)) + chunk(b"")


def stream_of(client: KnowledgeClient, form: str) -> Any:
    asked = client.rag.stream if form == "chat" else client.rag.agent.stream
    return asked("Why?", libraries=ID)


def read(stream: Any) -> Tuple[List[Event], Optional[AnswerTruncatedError]]:
    """The events that came, and what the stream ended with if not well."""
    events: List[Event] = []
    try:
        for event in stream:
            events.append(event)
    except AnswerTruncatedError as error:
        return events, error
    return events, None


def arrived(wire: bytes, kind: str) -> int:
    """How many bytes of the body a cut wire brings."""
    data = wire.partition(b"\r\n\r\n")[2]
    if kind != "chunked":
        return len(data)
    count = 0
    while b"\r\n" in data:
        size, _, data = data.partition(b"\r\n")
        count += len(data[: int(size, 16)])
        data = data[int(size, 16) + 2 :]
    return count


@pytest.mark.parametrize("secure", [False, True], ids=["http", "tls"])
@pytest.mark.parametrize("kind", ["length", "chunked", "close"])
@pytest.mark.parametrize("form", BODIES)
def test_a_cut_at_any_byte_is_no_answer_before_the_end_mark(
    form: str, kind: str, secure: bool, tls: Any
) -> None:
    body, mark = BODIES[form]
    wire = whole(body, kind)
    start = wire.index(b"\r\n\r\n") + 4
    # A handshake costs much more than a connection: over TLS every seventh byte.
    cuts = iter(range(start, len(wire) + 1, 7 if secure else 1))
    text = OPERATIONS[form].value

    def play(connection: Connection) -> None:
        connection.request()
        connection.send(wire[:cut])

    with balanced(), Server(play, tls if secure else None) as server:
        client = KnowledgeClient("key", base_url=server.url, retries=0, timeout=LONG)
        for cut in cuts:
            events, cut_off = read(stream_of(client, form))
            ended = [event for event in events if isinstance(event, FinalAnswerEvent)]
            is_whole = arrived(wire[:cut], kind) >= mark
            assert (cut_off is None) == is_whole, cut
            assert ended == (events[-1:] if is_whole else [])
            assert [event.answer.text for event in ended] == ([text] if is_whole else [])
            assert cut_off is None or text.startswith(cut_off.partial.text)
        client.close()
