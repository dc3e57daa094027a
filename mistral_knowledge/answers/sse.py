"""The bytes of a `text/event-stream` body, cut into whole events.

sseclient-py reads an event's fields; it is given whole events only, because what it does with a
stream's edges is not what an answer needs: it hands out an unfinished event at the end of a body,
and misses blank lines of mixed line ends. Pure.
"""

from __future__ import annotations

import inspect
from typing import Any, Iterable, Iterator, List, Optional, Tuple

from ..errors import ConfigurationError, MalformedEventError

DONE = "[DONE]"
_BOM = b"\xef\xbb\xbf"
_LAST_WORD = b"data:[DONE]"

MAX_EVENT_BYTES = 64 * 1024 * 1024
# sseclient-py copies what it has with every line, so many lines would cost their square.
MAX_EVENT_LINES = 4096


class Framer:
    """Cuts pieces of a body, however they were split, into the blocks between blank lines.

    Only CR, LF and CRLF end a line, and a BOM may open the stream. Nothing is searched twice and
    nothing copied as it grows, so that the cost is linear in the bytes.
    """

    def __init__(self) -> None:
        self._held: List[bytes] = []
        self._held_size = 0
        self._carry = b""
        self._after_cr = False
        self._at_start = True

    def feed(self, piece: bytes) -> List[bytes]:
        """The blocks that `piece` completes, with LF as line end."""
        lines = self._with_lf(piece)
        if self._carry:
            lines, self._carry = self._carry + lines, b""
        if self._at_start:
            lines = self._without_bom(lines)
        # A last LF may be half of a blank line: it waits for the next piece.
        if lines.endswith(b"\n") and not lines.endswith(b"\n\n"):
            lines, self._carry = lines[:-1], b"\n"
        *whole, rest = lines.split(b"\n\n")
        if whole and self._held:
            whole[0] = self._release(whole[0])
        if rest:
            self._hold(rest)
        return [block for block in [block.strip(b"\n") for block in whole] if block]

    def rest(self) -> bytes:
        """What was left when the body ended: not an event."""
        return b"".join(self._held).strip(b"\n")

    def _with_lf(self, piece: bytes) -> bytes:
        if self._after_cr and piece:
            piece = piece[1:] if piece.startswith(b"\n") else piece
            self._after_cr = False
        if b"\r" not in piece:
            return piece
        self._after_cr = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _without_bom(self, lines: bytes) -> bytes:
        if len(lines) < len(_BOM) and _BOM.startswith(lines):
            self._carry = lines
            return b""
        self._at_start = False
        return lines[len(_BOM) :] if lines.startswith(_BOM) else lines

    def _hold(self, rest: bytes) -> None:
        self._held.append(rest)
        self._held_size += len(rest)
        if self._held_size > MAX_EVENT_BYTES:
            limit = MAX_EVENT_BYTES // 2**20
            raise MalformedEventError(f"an event of the stream is larger than {limit} MiB")

    def _release(self, last: bytes) -> bytes:
        block = b"".join([*self._held, last])
        self._held, self._held_size = [], 0
        return block


def server_events(pieces: Iterable[bytes]) -> Iterator[Tuple[str, str]]:
    """(name, data) of each whole event; comments and events without data are passed over.

    An unfinished event at the end is none, with one exception: `data: [DONE]` counts.
    Raises MalformedEventError for bytes that are not UTF-8.
    """
    events = _sse_client()(_blocks(pieces)).events()
    while True:
        try:
            event = next(events)
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            raise MalformedEventError(f"an event is not UTF-8: {error.reason}") from None
        if event.data:
            yield event.event, event.data


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    framer = Framer()
    for piece in pieces:
        for block in framer.feed(piece):
            if block.count(b"\n") >= MAX_EVENT_LINES:
                raise MalformedEventError(f"an event has more than {MAX_EVENT_LINES} lines")
            yield block + b"\n\n"
    if framer.rest().replace(b" ", b"") == _LAST_WORD:
        yield _LAST_WORD + b"\n\n"


_client: Optional[Any] = None


def _sse_client() -> Any:
    """sseclient-py's reader; the unrelated package `sseclient` takes the same module name."""
    global _client
    if _client is None:
        import sseclient

        _client = _checked(sseclient)
    return _client


def _checked(module: Any) -> Any:
    client = getattr(module, "SSEClient", None)
    if client is None or "event_source" not in inspect.signature(client).parameters:
        raise ConfigurationError(
            "the installed module 'sseclient' is not from sseclient-py; run: "
            "pip uninstall sseclient && pip install --force-reinstall sseclient-py"
        )
    return client
