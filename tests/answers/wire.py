"""What servers send, for the tests of answers."""

import json
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Union

from mistral_knowledge.answers.chat import ChatReader
from mistral_knowledge.answers.stream import AnswerStream

EVENT_STREAM = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


class Reply:
    """A reply whose pieces are given; an exception among them is raised at its place."""

    def __init__(
        self,
        pieces: Iterable[Union[bytes, BaseException]],
        headers: Mapping[str, str] = EVENT_STREAM,
        status: int = 200,
    ) -> None:
        self.status = status
        self.headers = dict(headers)
        self.closed = 0
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, BaseException):
                raise piece
            yield piece

    def close(self) -> None:
        self.closed += 1


def sse(*payloads: Any, done: bool = False) -> bytes:
    """Data-only events, as chat completions stream them."""
    texts = [text if isinstance(text, str) else json.dumps(text) for text in payloads]
    texts += ["[DONE]"] if done else []
    return b"".join(b"data: " + text.encode("utf-8") + b"\n\n" for text in texts)


def chunk(
    content: Any = None,
    finish_reason: Optional[str] = None,
    choice: int = 0,
    usage: Optional[Dict[str, int]] = None,
    **delta: Any,
) -> Dict[str, Any]:
    """A chat.completion.chunk with one choice."""
    one = {"index": choice, "delta": {**delta, "content": content}, "finish_reason": finish_reason}
    body = {"id": "cmpl-1", "object": "chat.completion.chunk", "model": "m", "p": "abcdef"}
    return {**body, "choices": [one], **({"usage": usage} if usage else {})}


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def good(*contents: Any) -> bytes:
    """A whole stream of these contents."""
    deltas = [chunk(content) for content in contents]
    return sse(chunk("", role="assistant"), *deltas, chunk("", "stop", usage=USAGE), done=True)


def completion(content: Any, **message: Any) -> Dict[str, Any]:
    """The one-shot body with this content."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": "stop",
    }
    body = {"id": "cmpl-1", "object": "chat.completion", "model": "m", "usage": USAGE}
    return {**body, "choices": [choice]}


def stream_of(body: Union[bytes, Iterable[Any]], **reply: Any) -> AnswerStream:
    """An AnswerStream over a body, or over its pieces."""
    pieces = [body] if isinstance(body, bytes) else body
    return AnswerStream(Reply(pieces, **reply), ChatReader("req-1"))


def one_shot(body: Any) -> AnswerStream:
    """An AnswerStream over a one-shot JSON body."""
    return stream_of(json.dumps(body).encode("utf-8"), headers=JSON)


def cut_at(body: bytes, places: Iterable[int]) -> List[bytes]:
    """The body in pieces, cut at these offsets."""
    marks = sorted({0, len(body), *(place % (len(body) + 1) for place in places)})
    return [body[start:end] for start, end in zip(marks, marks[1:])]
