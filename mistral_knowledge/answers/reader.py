"""What a reader of a wire form does, whatever the form: the contract between `sse` and `stream`."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, NoReturn, Optional, Protocol, Tuple

from .._error_words import words_of
from .._json import read_json
from .._secrets import redact
from ..errors import AnswerTruncatedError, MalformedEventError, error_in_answer
from .assembly import Assembly
from .events import Event, FinalAnswerEvent
from .sse import DONE

# (event name, decoded object), or (event name, None) for `[DONE]`
Payload = Tuple[str, Optional[Dict[str, Any]]]


class Reader(Protocol):
    """Reads payloads of one wire form into an Assembly.

    complete: the end mark is in: the answer is whole, whatever follows
    ended: nothing that follows matters
    """

    assembly: Assembly
    complete: bool
    ended: bool

    def read(self, name: str, payload: Any) -> List[Event]:
        """The events of one payload, which came under the event name `name`."""
        ...

    def done(self) -> List[Event]:
        """The events that `[DONE]` makes; nothing is read behind it."""
        ...

    def unfold(self, body: Dict[str, Any]) -> Iterator[Payload]:
        """The payloads that would have streamed a one-shot `body`."""
        ...


def payloads(server_events: Iterable[Tuple[str, str]], reader: Reader) -> Iterator[Payload]:
    """The JSON of each event; `[DONE]` has none."""
    for name, data in server_events:
        yield name, None if data.strip() == DONE else _decoded(name, data, reader)


def assemble(items: Iterable[Payload], reader: Reader) -> Iterator[Event]:
    """The events of an answer, the final one excepted; it ends where the stream says so."""
    for name, payload in items:
        if payload is None:
            yield from reader.done()
            return
        yield from reader.read(name, payload)
        if reader.ended:
            return


def final_event(reader: Reader) -> FinalAnswerEvent:
    """The final event; AnswerTruncatedError where the end mark never came."""
    if not reader.complete:
        raise AnswerTruncatedError(
            "the answer stopped before its end; what came is in .partial and is not the answer",
            reader.assembly.partial(),
        )
    return FinalAnswerEvent(reader.assembly.answer())


def fail(payload: Any, request_id: Optional[str], assembly: Assembly) -> NoReturn:
    """Raise what the server reported inside the answer."""
    raise error_in_answer(words_of(payload), request_id, assembly.partial())


def _decoded(name: str, data: str, reader: Reader) -> Dict[str, Any]:
    try:
        payload = read_json(data)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        _malformed(name, data, reader)
    return payload


def _malformed(name: str, data: str, reader: Reader) -> NoReturn:
    preview = redact(data[:80])
    message = f"the event {name!r} of the stream is no JSON object: {preview!r}"
    raise MalformedEventError(message, reader.assembly.partial(), name)
