"""From a reply under status 200 to payloads: by what its body really is, not by what was asked.

A server that was asked for a stream may answer with JSON (an error, or a whole answer), a proxy
with HTML, and some send events under `text/plain` or no type at all.
"""

from __future__ import annotations

from typing import Iterator

from .._json import read_json
from .._secrets import redact
from ..errors import (
    AnswerTruncatedError,
    ConnectionLostError,
    UnexpectedResponseError,
    request_id_of,
)
from ..transports import Reply
from ..transports._linger import within
from .reader import Payload, Reader, payloads
from .sse import server_events

# How long the rest of a body is waited for once the answer is whole: a moment, for the connection
# to be used again; more where the token counts are still to come.
REST_SECONDS = 0.05
USAGE_SECONDS = 2.0

_PREVIEW = 200


def payloads_of(reply: Reply, reader: Reader) -> Iterator[Payload]:
    """The payloads of an answer, from a stream or a one-shot body."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return _from_json(reply, reader)
    if kind == "text/event-stream":
        return payloads(server_events(_pieces(reply, reader)), reader)
    if kind in ("", "text/plain"):
        return _from_untyped(reply, reader)
    raise _no_answer(reply, reader)


def _pieces(reply: Reply, reader: Reader) -> Iterator[bytes]:
    pieces = iter(reply)
    try:
        while not reader.complete:
            try:
                piece = next(pieces)
            except StopIteration:
                return
            except ConnectionLostError as error:
                raise _truncated(reader) from error
            yield piece
        # What follows the end mark is worth a moment, and never worth the answer.
        seconds = REST_SECONDS if reader.assembly.has_usage else USAGE_SECONDS
        yield from within(seconds, pieces, reply.close)
    finally:
        # Before `pieces` is dropped, which would drop the connection: it may serve again.
        if reader.complete:
            reply.close()


def _from_json(reply: Reply, reader: Reader) -> Iterator[Payload]:
    body = b"".join(_pieces(reply, reader))
    try:
        payload = read_json(body)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise _unexpected(reply, body)
    yield from reader.unfold(payload)


def _from_untyped(reply: Reply, reader: Reader) -> Iterator[Payload]:
    start = bytearray()

    def noted() -> Iterator[bytes]:
        for piece in _pieces(reply, reader):
            start.extend(piece[: max(0, _PREVIEW - len(start))])
            yield piece

    is_stream = False
    for payload in payloads(server_events(noted()), reader):
        is_stream = True
        yield payload
    if not is_stream and not reader.complete:
        raise _unexpected(reply, bytes(start))


def _no_answer(reply: Reply, reader: Reader) -> UnexpectedResponseError:
    start = b""
    for piece in _pieces(reply, reader):
        start += piece
        if len(start) >= _PREVIEW:
            break
    return _unexpected(reply, start)


def _truncated(reader: Reader) -> AnswerTruncatedError:
    return AnswerTruncatedError(
        "the connection broke before the answer's end; what came is in .partial and is not it",
        reader.assembly.partial(),
    )


def _unexpected(reply: Reply, body: bytes) -> UnexpectedResponseError:
    kind = reply.headers.get("content-type")
    preview = redact(body[:_PREVIEW].decode("utf-8", "replace"))
    return UnexpectedResponseError(
        f"expected an answer, got {kind or 'a body without a content type'}: {preview!r}",
        reply.status,
        kind,
        request_id_of(reply.headers),
    )
