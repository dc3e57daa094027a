"""An answer while it comes: in a cell of a notebook, or printed."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Callable, List, Optional

from ..answers.events import (
    CitationEvent,
    Event,
    MessageEvent,
    ThinkingEvent,
    ToolCallEvent,
)
from ..answers.stream import AnswerStream
from ..models.answers import Answer, Citation, ToolCall
from ._html import answer_html, call_line, folded, note_html, text_html
from ._markdown import plain
from ._terminal import show_answer

SECONDS_BETWEEN_UPDATES = 0.1
# A long answer takes longer to render; the stream is not to wait for it most of the time.
SHARE_OF_RENDERING = 0.2

UNFINISHED = "This answer did not come whole."


def show(stream: AnswerStream) -> Answer:
    """Show an answer as it comes, and return it; raises what reading the stream raises."""
    cell = _new_cell()
    if cell is None:
        return show_answer(stream)
    return _shown_live(stream, cell)


def _new_cell() -> Optional[Callable[[str], None]]:
    """A function that shows HTML in the place of what it showed before; None in a terminal."""
    shell = sys.modules.get("IPython")
    interactive = shell.get_ipython() if shell is not None else None
    if interactive is None or not hasattr(interactive, "kernel"):
        return None
    shown = importlib.import_module("IPython.display")
    handle = shown.display(shown.HTML(""), display_id=True)
    return lambda body: handle.update(shown.HTML(body))


def _shown_live(stream: AnswerStream, cell: Callable[[str], None]) -> Answer:
    growing = _Growing()
    pace = _Pace()
    whole = False
    try:
        with stream:
            for event in stream:
                growing.take(event)
                if pace.is_due():
                    pace.timed(lambda: cell(growing.html()))
        answer = stream.answer
        assert answer is not None
        whole = True
    finally:
        # An interrupt of the kernel comes through here as well.
        if not whole:
            cell(growing.html() + note_html(UNFINISHED))
    cell(answer_html(answer))
    return answer


class _Growing:
    """What has come so far."""

    def __init__(self) -> None:
        self._text: List[str] = []
        self._citations: List[Citation] = []
        self._thinking: List[str] = []
        self._calls: List[str] = []

    def take(self, event: Event) -> None:
        """One more event."""
        if isinstance(event, MessageEvent):
            self._text.append(event.delta)
        elif isinstance(event, CitationEvent):
            self._citations.append(event.citation)
        elif isinstance(event, ThinkingEvent):
            self._thinking.append(event.delta)
        elif isinstance(event, ToolCallEvent):
            call = ToolCall(event.tool_call_id, event.name, event.arguments)
            self._calls.append(call_line(call))

    def html(self) -> str:
        """It, as the cell shows it."""
        thinking = "".join(self._thinking)
        return (
            folded("Thinking", plain(thinking) if thinking else "")
            + folded("Tool calls", "".join(self._calls))
            + text_html("".join(self._text), self._citations)
        )


class _Pace:
    """When the cell is shown anew."""

    def __init__(self) -> None:
        self._next = 0.0

    def is_due(self) -> bool:
        """Whether it is time."""
        return time.monotonic() >= self._next

    def timed(self, work: Callable[[], Any]) -> None:
        """Do it, and wait the longer the longer it takes."""
        start = time.monotonic()
        work()
        end = time.monotonic()
        self._next = end + max(SECONDS_BETWEEN_UPDATES, (end - start) / SHARE_OF_RENDERING)
