"""What a stream of an answer is made of: partial results, then one final result.

Flat fields first (`event.delta`, `event.citation`, `event.answer`); `event.event` is the name of
R2R's streaming retrieval API for it, and `event.data` the data in R2R's shape.
"""

from __future__ import annotations

from typing import Any, ClassVar, Dict, List, Optional, Union

import attr

from ..models.answers import Answer, Citation, Source
from . import _data
from ._data import Data


@attr.s(auto_attribs=True, slots=True)
class SearchResultsEvent:
    """Sources became known: `results`, ahead of the first citation that uses one of them.

    number: 1, 2, ... within the stream
    """

    event: ClassVar[str] = "search_results"
    results: List[Source]
    number: int = 1

    @property
    def data(self) -> Data:
        """R2R's shape."""
        return _data.search_data(self.number, self.results)


@attr.s(auto_attribs=True, slots=True)
class MessageEvent:
    """The answer grew by `delta`, which begins at `offset` of its text."""

    event: ClassVar[str] = "message"
    delta: str
    offset: int = 0

    @property
    def data(self) -> Data:
        """R2R's shape."""
        return _data.text_delta("msg", "message", self.offset, self.delta)


@attr.s(auto_attribs=True, slots=True)
class CitationEvent:
    """The text so far rests on a source: `citation`; `is_new` at the source's first one."""

    event: ClassVar[str] = "citation"
    citation: Citation
    is_new: bool = True

    @property
    def data(self) -> Data:
        """R2R's shape, with the documented and the live server's keys."""
        return _data.citation_data(self.citation, self.is_new)


@attr.s(auto_attribs=True, slots=True)
class ThinkingEvent:
    """The model reasoned: `delta`, at `offset` of all its thinking; never part of the answer.

    raw: the chunk as it came, with references and what else it carries
    """

    event: ClassVar[str] = "thinking"
    delta: str
    offset: int = 0
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    @property
    def data(self) -> Data:
        """R2R's shape."""
        return _data.text_delta("think", "thinking", self.offset, self.delta)


@attr.s(auto_attribs=True, slots=True)
class ToolCallEvent:
    """The model called a tool; complete, with its `arguments` as JSON text."""

    event: ClassVar[str] = "tool_call"
    tool_call_id: Optional[str]
    name: str
    arguments: str = attr.ib(default="", repr=False)

    @property
    def data(self) -> Data:
        """R2R's shape."""
        return _data.tool_call_data(self.tool_call_id, self.name, self.arguments)


@attr.s(auto_attribs=True, slots=True)
class ToolResultEvent:
    """A tool that the server ran gave `content`."""

    event: ClassVar[str] = "tool_result"
    tool_call_id: Optional[str]
    content: str = attr.ib(repr=False)
    name: Optional[str] = None

    @property
    def data(self) -> Data:
        """R2R's shape."""
        return _data.tool_result_data(self.tool_call_id, self.content)


@attr.s(auto_attribs=True, slots=True)
class FinalAnswerEvent:
    """The whole answer; always the last event, and the only one that says that it is whole."""

    event: ClassVar[str] = "final_answer"
    answer: Answer

    @property
    def data(self) -> Data:
        """R2R's shape."""
        return _data.final_data(self.answer)


@attr.s(auto_attribs=True, slots=True)
class UnknownEvent:
    """Something this version does not know: its wire `name` and `payload`, as it came."""

    event: ClassVar[str] = "unknown"
    name: str
    payload: Any = attr.ib(repr=False)

    @property
    def data(self) -> Any:
        """The payload."""
        return _data.attributed(self.payload)


Event = Union[
    SearchResultsEvent,
    MessageEvent,
    CitationEvent,
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
    FinalAnswerEvent,
    UnknownEvent,
]
