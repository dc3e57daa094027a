"""An answer as the bytes of a `text/event-stream` body."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

from ..answers.events import FinalAnswerEvent
from ..answers.stream import AnswerStream
from .channel import Ended, Silence
from .problems import error_data
from .pump import Failed, Item, Opened, Pump
from .shapes import Shapes
from .styles import HEARTBEAT, style_named

Amend = Callable[[Dict[str, Any]], Dict[str, Any]]


def sse(stream: AnswerStream, style: str = "r2r", *, heartbeat: float = 0.8) -> EventBody:
    """The body of a `text/event-stream` response: an iterator of bytes with `close()`.

    style: `"r2r"` is R2R's wire format, which ends in `event: done`; `"envelope"` writes each event
        as `data: {"event": ..., "data": ...}`, and ends after the last one
    heartbeat: seconds of silence after which a comment is written

    Each item is one event. An error is an `error` event, and the end. `close()`, which a WSGI
    server calls when the client has gone, ends the answer at Mistral too; so does dropping it.
    A thread reads the answer from the first item on, and ends with the body.
    Raises InvalidArgumentError for another style.
    """
    return EventBody(Pump(lambda: stream), style, heartbeat, on_close=stream.close)


class EventBody:
    """What `sse` returns. One reader; `close()` from any thread, any number of times."""

    def __init__(
        self,
        pump: Pump,
        style: str = "r2r",
        heartbeat: float = 0.8,
        *,
        on_close: Callable[[], None] = lambda: None,
        amend_final: Optional[Amend] = None,
        secrets: Sequence[str] = (),
        has_gone: Callable[[], bool] = lambda: False,
    ) -> None:
        self._pump = pump
        self._on_close = on_close
        self._last: List[bytes] = []
        self._style = style_named(style)
        self._heartbeat = heartbeat
        self._amend = amend_final
        self._secrets = secrets
        self._has_gone = has_gone
        self._shapes = Shapes()
        self._started = False
        self._last += [self._style.end] if self._style.end else []

    def __iter__(self) -> EventBody:
        return self

    def __next__(self) -> bytes:
        if not self._started:
            self._started = True
            if not self._pump.thread.ident:
                self._pump.start()
        while True:
            try:
                frame = self._frame(self._pump.channel.take(self._heartbeat))
            except Silence:
                if not self._has_gone():
                    return HEARTBEAT
                self.close()
            except Ended:
                return self._end()
            if frame:
                return frame

    def close(self) -> None:
        """End it, and the answer at Mistral."""
        self._last.clear()
        self._pump.close()
        self._on_close()

    def __del__(self) -> None:
        # A server that loses its client in the wrong moment may forget to close.
        self.close()

    def _end(self) -> bytes:
        if not self._last or self._pump.channel.closed:
            raise StopIteration
        return self._last.pop()

    def _frame(self, item: Item) -> bytes:
        if isinstance(item, Opened):
            return b""
        if isinstance(item, Failed):
            data = error_data(item.error, self._style.error_prefix, self._secrets)
            return self._style.frame("error", data)
        name, data = self._shapes.of(item)
        if isinstance(item, FinalAnswerEvent) and self._amend is not None:
            data = self._amend(data)
        return self._style.frame(name, data)
