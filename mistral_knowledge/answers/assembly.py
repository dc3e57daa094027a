"""The one place where an answer is put together.

An `Assembly` takes what a stream says, piece by piece, and gives back the events for the caller;
at the end it has the Answer. Both wire forms and both paths (streamed, one-shot) go through it,
so they cannot drift apart. It only folds: no clock, no socket.
"""

from __future__ import annotations

import hashlib
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import attr

from ..models.answers import (
    Answer,
    Chunk,
    Citation,
    PartialAnswer,
    Source,
    ToolCall,
    Usage,
    source_of,
)
from .events import (
    CitationEvent,
    Event,
    MessageEvent,
    SearchResultsEvent,
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
    UnknownEvent,
)


@attr.s(auto_attribs=True, slots=True)
class Cited:
    """A source as a chunk of the wire names it, before it has its number in the answer.

    key: what makes two mentions the same source
    """

    key: Tuple[Any, ...]
    source_type: str
    source_id: Union[str, int, None] = None
    document_id: Optional[str] = None
    title: Optional[str] = None
    url: Optional[str] = None
    resolved: bool = True


class Assembly:
    """An answer in the making; each method takes one piece and returns the events it makes."""

    def __init__(self, request_id: Optional[str] = None) -> None:
        self._request_id = request_id
        self._pieces: List[str] = []
        self._length = 0
        self._chunks: List[Chunk] = []
        self._chunk_start = 0
        self._citations: List[Citation] = []
        self._numbers: Dict[Tuple[Any, ...], int] = {}
        self._announced: Dict[Tuple[Any, ...], Cited] = {}
        self._searches = 0
        self._thinking: List[str] = []
        self._thinking_length = 0
        self._tool_calls: List[ToolCall] = []
        self._usage: Optional[Usage] = None
        self._spent: Optional[Usage] = None
        self._finish_reason: Optional[str] = None
        self._envelope: Dict[str, Any] = {}

    def text(self, delta: str) -> MessageEvent:
        """The answer grows."""
        offset = self._length
        self._pieces.append(delta)
        self._length = offset + len(delta)
        return MessageEvent(delta, offset)

    def thinking(self, delta: str, raw: Dict[str, Any]) -> ThinkingEvent:
        """The model reasons; kept apart from the answer."""
        offset = self._thinking_length
        self._thinking.append(delta)
        self._thinking_length += len(delta)
        return ThinkingEvent(delta, offset, raw)

    def cite(
        self, sources: List[Cited], visible: str, raw: Dict[str, Any], chunk_type: str
    ) -> List[Event]:
        """A chunk cites `sources`; `visible` is its own part of the text, often empty."""
        self._close_text_chunk()
        start = self._length
        grown: List[Event] = [self.text(visible)] if visible else []
        chunk = Chunk(chunk_type, visible, raw=raw)
        found: List[Source] = []
        cited: List[Event] = []
        for source in sources:
            is_new = source.key not in self._numbers
            # A search may tell of a source what the reference to it leaves out.
            known = self._announced.get(source.key, source)
            source.document_id = source.document_id or known.document_id
            citation = self._citation(source, start, raw)
            chunk.citations.append(citation)
            cited.append(CitationEvent(citation, is_new))
            found += [] if source.key in self._announced else [source_of(citation)]
            self._announced.setdefault(source.key, source)
        self._chunks.append(chunk)
        self._chunk_start = len(self._pieces)
        return [*self._search_results(found), *grown, *cited]

    def tool_call(self, call: ToolCall) -> ToolCallEvent:
        """The model called a tool; complete."""
        self._tool_calls.append(call)
        return ToolCallEvent(call.tool_call_id, call.name, call.arguments)

    def found(self, sources: List[Cited]) -> List[Event]:
        """A search found `sources`; they get their number when they are first cited."""
        new = []
        for source in sources:
            if source.key not in self._announced:
                self._announced[source.key] = source
                new.append(source_of(_uncited(source)))
        return self._search_results(new)

    def next_round(self) -> None:
        """Another reply follows in the same answer: its token counts are added to these."""
        self._spent, self._usage = self.total_usage, None

    @property
    def total_usage(self) -> Optional[Usage]:
        """The token counts of all rounds."""
        if self._spent is None or self._usage is None:
            return self._usage or self._spent
        return self._spent + self._usage

    def tool_result(
        self, tool_call_id: Optional[str], content: str, name: Optional[str] = None
    ) -> ToolResultEvent:
        """A tool that the server ran gave `content`."""
        return ToolResultEvent(tool_call_id, content, name)

    def unknown_chunk(self, chunk_type: str, raw: Any) -> UnknownEvent:
        """A chunk of the answer that this version does not know; it keeps its place."""
        self._close_text_chunk()
        self._chunks.append(Chunk(chunk_type, raw=raw if isinstance(raw, dict) else {"value": raw}))
        return UnknownEvent(chunk_type, raw)

    def usage(self, payload: Mapping[str, Any]) -> None:
        """Token counts; the last ones win."""
        self._usage = Usage.of(payload)

    def finish(self, reason: str) -> None:
        """Why the model stopped."""
        self._finish_reason = reason

    def envelope(self, fields: Mapping[str, Any]) -> None:
        """Fields around the text: ids, model, and what else the server sends; later ones win."""
        self._envelope.update(fields)

    @property
    def conversation_id(self) -> Optional[str]:
        """The id of the conversation, as the server returned it last."""
        value = self._envelope.get("conversation_id")
        return value if isinstance(value, str) else None

    @property
    def has_usage(self) -> bool:
        """Whether token counts are in."""
        return self._usage is not None

    def partial(self) -> PartialAnswer:
        """A snapshot of what has come so far."""
        return PartialAnswer(self._pieces, self._citations, self.total_usage)

    def answer(self) -> Answer:
        """The whole answer; to be asked for once its end mark is in."""
        self._close_text_chunk()
        fields = self._envelope
        return Answer(
            text="".join(self._pieces),
            chunks=self._chunks,
            citations=self._citations,
            usage=self.total_usage,
            thinking="".join(self._thinking),
            tool_calls=self._tool_calls,
            finish_reason=self._finish_reason,
            model=fields.get("model"),
            conversation_id=fields.get("conversation_id"),
            id=fields.get("id"),
            request_id=self._request_id,
            raw=fields,
        )

    def _close_text_chunk(self) -> None:
        text = "".join(self._pieces[self._chunk_start :])
        self._chunk_start = len(self._pieces)
        if text:
            self._chunks.append(Chunk("text", text))

    def _citation(self, source: Cited, start: int, raw: Dict[str, Any]) -> Citation:
        citation = Citation(
            id=_short_id(source.key),
            index=self._numbers.setdefault(source.key, len(self._numbers) + 1),
            raw_index=len(self._citations) + 1,
            start_index=start,
            end_index=self._length,
            source_type=source.source_type,
            raw=raw,
            **_described(source),
        )
        self._citations.append(citation)
        return citation

    def _search_results(self, found: List[Source]) -> List[Event]:
        if not found:
            return []
        self._searches += 1
        return [SearchResultsEvent(found, self._searches)]


def _uncited(source: Cited) -> Citation:
    return Citation(_short_id(source.key), 0, 0, 0, 0, source.source_type, **_described(source))


def _described(source: Cited) -> Dict[str, Any]:
    return {name: getattr(source, name) for name in _DESCRIPTION}


_DESCRIPTION = ("source_id", "document_id", "title", "url", "resolved")


def _short_id(key: Tuple[Any, ...]) -> str:
    # Derived from the source alone, so that two runs over one answer give the same ids.
    return hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()[:8]
