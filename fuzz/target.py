"""What is fuzzed: any bytes as the body of an answer, cut anywhere, to events and an answer.

`check(data)` raises AssertionError for what must never be, and lets errors of other libraries out.
The first two bytes choose the wire form, the content type, and where the body is cut.
"""

from __future__ import annotations

import json
import pickle
from typing import Any, Iterator, List, Mapping, Tuple

from mistral_knowledge.answers.chat import ChatReader
from mistral_knowledge.answers.conversations import ConversationReader
from mistral_knowledge.answers.events import Event, FinalAnswerEvent
from mistral_knowledge.answers.stream import AnswerStream
from mistral_knowledge.errors import KnowledgeError

_READERS = (ChatReader, ConversationReader)
_KINDS = ("text/event-stream", "application/json", "text/plain", "", "text/html")


class Reply:
    """A reply over pieces that are in memory."""

    status = 200

    def __init__(self, kind: str, pieces: List[bytes]) -> None:
        self.headers: Mapping[str, str] = {"content-type": kind, "x-request-id": "r"}
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)

    def close(self) -> None:
        """Nothing is held."""


def check(data: bytes) -> None:
    """Read `data` as an answer, whole and in pieces, and look at all that came."""
    choice, size, body = data[:1] or b"\0", data[1:2] or b"\0", data[2:]
    reader = _READERS[choice[0] % 2]
    kind = _KINDS[choice[0] // 2 % len(_KINDS)]
    step = size[0] + 1
    whole = _read(reader, kind, [body])
    pieces = _read(reader, kind, [body[n : n + step] for n in range(0, len(body), step)])
    assert whole == pieces, "another split of the same bytes gave something else"


def _read(reader: Any, kind: str, pieces: List[bytes]) -> Tuple[Any, ...]:
    stream = AnswerStream(Reply(kind, pieces), reader("r"))
    events: List[Event] = []
    error = None
    try:
        for event in stream:
            events.append(event)
    except KnowledgeError as raised:
        error = raised
    if error is not None:
        assert pickle.loads(pickle.dumps(error)).message == error.message
    assert (stream.answer is None) == (error is not None), "an answer and an error, or neither"
    _look_at(events, error is None)
    return [repr(event) for event in events], type(error), str(error)


def _look_at(events: List[Event], ended_well: bool) -> None:
    finals = [event for event in events if isinstance(event, FinalAnswerEvent)]
    assert finals == (events[-1:] if ended_well else []), "not exactly one final answer, last"
    for event in events:
        json.dumps(_plain(event.data))
    for final in finals:
        answer = final.answer
        assert pickle.loads(pickle.dumps(answer)) == answer
        answer.render("markdown")
        for citation in answer.citations:
            assert 0 <= citation.start_index <= citation.end_index <= len(answer.text)


def _plain(value: Any) -> Any:
    """R2R's shape as JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "__dict__"):
        return _plain(vars(value))
    return value if isinstance(value, (int, float, bool, type(None))) else str(value)
