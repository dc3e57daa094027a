"""An answer on a terminal: its text on stdout, and all that leads to it on stderr.

Thinking and tool calls are dimmed where somebody watches; elsewhere they are plain lines.
"""

from __future__ import annotations

import sys

from ..answers.events import CitationEvent, MessageEvent, ThinkingEvent, ToolCallEvent
from ..answers.stream import AnswerStream
from ..models.answers import Answer, Source, Usage
from ._html import usage_words

_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_MOST_OF_A_CALL = 200

# What a terminal would obey, from a file's name or a model: it is shown in place of being done.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_CONTROLS_IN_TEXT = {**_CONTROLS, ord("\n"): "\n", ord("\t"): "\t", ord("\r"): ""}


def show_answer(stream: AnswerStream) -> Answer:
    """Show an answer as it comes, then its sources and what it cost; returns it."""
    with stream:
        _show(stream)
    answer = stream.answer
    assert answer is not None
    for source in answer.sources:
        print(_on_one_line(f"[{source.index}] {source.label}{_place(source)}"))
    if answer.truncated:
        line("the answer ran into its length limit")
    line(usage_words(answer.usage or Usage()))
    return answer


def progress(text: str) -> None:
    """A line that the next one replaces, where somebody is watching."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{_on_one_line(text)}", end="", file=sys.stderr, flush=True)


def line(text: str) -> None:
    """A line on stderr, in place of any progress."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}{_on_one_line(text)}", file=sys.stderr, flush=True)


def _on_one_line(text: str) -> str:
    return text.translate(_CONTROLS)


def harmless(text: str) -> str:
    """Text of several lines, with what a terminal would obey shown in place of being done."""
    return text.translate(_CONTROLS_IN_TEXT)


def _show(stream: AnswerStream) -> None:
    aside = _Aside()
    for event in stream:
        if isinstance(event, MessageEvent):
            aside.end()
            aside.answer_is_open = not event.delta.endswith("\n")
            print(harmless(event.delta), end="", flush=True)
        elif isinstance(event, CitationEvent):
            print(f"[{event.citation.index}]", end="", flush=True)
        elif isinstance(event, ThinkingEvent):
            aside.say(event.delta)
        elif isinstance(event, ToolCallEvent):
            aside.end()
            aside.say(_shortened(f"{event.name}({event.arguments})"))
            aside.end()
    aside.end()
    print("\n")


class _Aside:
    """What is said beside the answer, line by line.

    answer_is_open: whether the answer stands in the middle of a line
    """

    def __init__(self) -> None:
        self.answer_is_open = False
        self._open = False
        self._watched = sys.stderr.isatty()

    def say(self, text: str) -> None:
        """More of the open line, which this begins if there is none."""
        if self.answer_is_open and self._watched:
            self._write("\n")
        self.answer_is_open, self._open = False, True
        text = harmless(text)
        self._write(f"{_DIM}{text}{_PLAIN}" if self._watched else text)

    def end(self) -> None:
        """End the open line, if there is one."""
        if self._open:
            self._write("\n")
        self._open = False

    def _write(self, text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)


def _shortened(call: str) -> str:
    call = " ".join(call.split())
    return call if len(call) <= _MOST_OF_A_CALL else f"{call[:_MOST_OF_A_CALL]}..."


def _place(source: Source) -> str:
    return f" <{source.url}>" if source.source_type == "web" and source.url else ""
