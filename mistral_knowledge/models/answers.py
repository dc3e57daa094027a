"""An answer, the citations in it, the sources behind them, and what it cost in tokens."""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import attr

from .._secrets import redact_url
from ..errors import InvalidArgumentError

LENGTH_LIMITS = frozenset({"length", "model_length"})


def _hidden(url: Optional[str]) -> str:
    return repr(redact_url(url)) if url else "None"


@attr.s(auto_attribs=True, slots=True)
class Usage:
    """Token counts of an answer; counts only, no cost.

    prompt_tokens, completion_tokens, total_tokens: None where the server did not say
    connector_tokens: tokens of server-run tools, and `connectors`, how often each ran
    extra: every further counter the server sent, as it came
    """

    prompt_tokens: Optional[int] = None
    completion_tokens: Optional[int] = None
    total_tokens: Optional[int] = None
    connector_tokens: Optional[int] = None
    connectors: Optional[Dict[str, int]] = None
    extra: Dict[str, Any] = attr.ib(factory=dict)

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> "Usage":
        """The counts in a `usage` object; what is no count stays in `extra`."""
        known: Dict[str, Any] = {}
        extra: Dict[str, Any] = {}
        for name, value in payload.items():
            kind = _KINDS.get(name)
            if name in _COUNTS and isinstance(value, str) and value.isdecimal():
                value = int(value)
            if value is not None or kind is None:
                fits = kind is not None and isinstance(value, kind)
                (known if fits else extra)[name] = value
        return cls(extra=extra, **known)

    def __add__(self, other: "Usage") -> "Usage":
        """The counts of two replies together."""
        counts = {name: _sum(getattr(self, name), getattr(other, name)) for name in _COUNTS}
        connectors = _sums(self.connectors or {}, other.connectors or {})
        return Usage(connectors=connectors or None, extra=_sums(self.extra, other.extra), **counts)

    def _repr_html_(self) -> str:
        from ..notebook._tables import item_html

        return item_html(self)

    def log_fields(self) -> Dict[str, Any]:
        """The counts, for a log."""
        return {name: getattr(self, name) for name in _COUNTS}


_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens", "connector_tokens")
_KINDS: Dict[str, Any] = {**dict.fromkeys(_COUNTS, (int, float)), "connectors": dict}


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
    return one + other if numbers else other


def _sums(one: Mapping[str, Any], other: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: _sum(one.get(name), other.get(name)) for name in {**one, **other}}


@attr.s(auto_attribs=True, slots=True)
class Citation:
    """One place in an answer that rests on a source.

    id: of the source within this answer; the same for each citation of one source
    index: display number, 1, 2, ... by first appearance of the source
    raw_index: 1, 2, ... by place in the text
    start_index, end_index: offsets into `answer.text`; the cited words where the wire gives them,
        else an empty span at the place
    source_type: `document`, `web`, `file` or `tool`
    source_id: the id as sent (text or number), or None
    document_id: id of the library document, where known
    title, url: of the source, where known; the repr hides the query of the url
    resolved: whether the source is known; False for an id that nothing explains
    raw: the chunk as it came
    """

    id: str
    index: int
    raw_index: int
    start_index: int
    end_index: int
    source_type: str
    source_id: Union[str, int, None] = None
    document_id: Optional[str] = None
    title: Optional[str] = None
    url: Optional[str] = attr.ib(default=None, repr=_hidden)
    resolved: bool = True
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers only: what may go into a log."""
        return {"id": self.id, "index": self.index, "document_id": self.document_id}

    def without_secrets(self) -> "Citation":
        """A copy without URL and raw chunk, for what is pickled into queues and logs."""
        return attr.evolve(self, url=None, raw={})


@attr.s(auto_attribs=True, slots=True)
class Source:
    """What an answer rests on: the citations of one source together.

    id, index, source_type, source_id, document_id, title, url, resolved: as in `Citation`
    spans: (start, end) offsets into `answer.text`, in reading order
    """

    id: str
    index: int
    source_type: str
    source_id: Union[str, int, None] = None
    document_id: Optional[str] = None
    title: Optional[str] = None
    url: Optional[str] = attr.ib(default=None, repr=_hidden)
    resolved: bool = True
    spans: List[Tuple[int, int]] = attr.ib(factory=list)

    @property
    def label(self) -> str:
        """A name to show: the title, else the id as sent, else the id."""
        return self.title or str(self.source_id if self.source_id is not None else self.id)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers only: what may go into a log."""
        return {"id": self.id, "index": self.index, "document_id": self.document_id}


@attr.s(auto_attribs=True, slots=True)
class Chunk:
    """A piece of an answer: retrieved text, a citation, or something this version does not know.

    type: `text`, or the wire's name of the chunk
    text: its part of `answer.text`
    citations: what a citation chunk cites
    raw: the chunk as it came; empty for text
    """

    type: str
    text: str = ""
    citations: List[Citation] = attr.ib(factory=list)
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)


@attr.s(auto_attribs=True, slots=True)
class ToolCall:
    """A tool call the model made.

    tool_call_id, name: which call of which tool; arguments: JSON text
    by_server: whether the server ran the tool itself; else its result is for the caller to give
    confirmation: `pending`, `allowed` or `denied` where the tool needs leave, else None
    """

    tool_call_id: Optional[str]
    name: str
    arguments: str = attr.ib(default="", repr=False)
    by_server: bool = False
    confirmation: Optional[str] = None


@attr.s(auto_attribs=True, slots=True)
class Answer:
    """A whole answer.

    text: what the model said
    chunks: the same in pieces, with the citations at their place
    citations: every citation, in reading order
    usage: token counts, None where the server gave none
    thinking: the model's reasoning, kept apart from the text
    tool_calls: calls the model made
    finish_reason: `stop`, `length`, `tool_calls`, ... as sent
    model: which model answered
    conversation_id: of a conversation, else None
    id, request_id: the server's ids of the answer and of the request
    raw: the reply's fields around the text, as they came

    Two answers are equal when they say the same; ids of requests and raw JSON do not count.
    """

    text: str = ""
    chunks: List[Chunk] = attr.ib(factory=list, repr=False)
    citations: List[Citation] = attr.ib(factory=list)
    usage: Optional[Usage] = None
    thinking: str = attr.ib(default="", repr=False)
    tool_calls: List[ToolCall] = attr.ib(factory=list)
    finish_reason: Optional[str] = None
    model: Optional[str] = None
    conversation_id: Optional[str] = attr.ib(default=None, eq=False)
    id: Optional[str] = attr.ib(default=None, eq=False)
    request_id: Optional[str] = attr.ib(default=None, eq=False)
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    @property
    def truncated(self) -> bool:
        """Whether the answer ran into a length limit: it is whole as sent, but not to its point."""
        return self.finish_reason in LENGTH_LIMITS

    @property
    def sources(self) -> List[Source]:
        """The citations grouped by source, in display order."""
        return group(self.citations)

    def utf16_offset(self, offset: int) -> int:
        """A Python offset into `text` as JavaScript counts: in UTF-16 units.

        They differ behind every character outside the Basic Multilingual Plane, emoji for one.
        """
        return len(self.text[:offset].encode("utf-16-le", "surrogatepass")) // 2

    def render(self, style: str = "plain") -> str:
        """The text with numbered citations, and the numbered sources under it.

        style: `plain` or `markdown` (web sources become links). URLs of documents are left out:
        they are signed, and open the document for whoever holds them.
        """
        if style not in _STYLES:
            raise InvalidArgumentError("style= is unknown: give 'plain' or 'markdown'")
        lines = [_STYLES[style](source) for source in self.sources]
        marked = _with_marks(self.text, self.citations)
        return marked + ("\n\n" + "\n".join(lines) if lines else "")

    def _repr_html_(self) -> str:
        from ..notebook._html import answer_html

        return answer_html(self)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers and status only: what may go into a log."""
        counts = self.usage.log_fields() if self.usage else {}
        return {
            "answer_id": self.id,
            "request_id": self.request_id,
            "model": self.model,
            "finish_reason": self.finish_reason,
            "citations": len(self.citations),
            **counts,
        }


class PartialAnswer:
    """What of an answer has come so far: `text`, `citations`, `usage`.

    A snapshot: it does not grow. The text is joined only when it is asked for, so that a call per
    event stays cheap however long the answer gets.
    """

    __slots__ = ("_citations", "_pieces", "usage")

    usage: Optional[Usage]

    def __init__(
        self, pieces: Sequence[str], citations: Sequence[Citation], usage: Optional[Usage] = None
    ) -> None:
        # The lists only ever grow at their end, so a length is enough to remember a moment.
        self._pieces = (pieces, len(pieces))
        self._citations = (citations, len(citations))
        self.usage = usage

    @property
    def text(self) -> str:
        """The text so far."""
        pieces, count = self._pieces
        return "".join(pieces[:count])

    @property
    def citations(self) -> List[Citation]:
        """The citations so far, in reading order."""
        citations, count = self._citations
        return list(citations[:count])

    def without_secrets(self) -> "PartialAnswer":
        """A copy without URLs and raw chunks, for what is pickled into queues and logs."""
        kept = [citation.without_secrets() for citation in self.citations]
        return PartialAnswer([self.text], kept, self.usage)

    def log_fields(self) -> Dict[str, Any]:
        """How much has come: what may go into a log."""
        return {"characters": len(self.text), "citations": len(self.citations)}

    def __repr__(self) -> str:
        return f"PartialAnswer({len(self.text)} characters, {len(self.citations)} citations)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartialAnswer):
            return NotImplemented
        return _told(self) == _told(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return PartialAnswer, ([self.text], self.citations, self.usage)


def _told(partial: PartialAnswer) -> Tuple[str, List[Citation], Optional[Usage]]:
    return partial.text, partial.citations, partial.usage


def group(citations: Sequence[Citation]) -> List[Source]:
    """Citations grouped by their source, in display order."""
    sources: Dict[str, Source] = {}
    for citation in citations:
        source = sources.get(citation.id)
        if source is None:
            source = sources[citation.id] = source_of(citation)
        source.spans.append((citation.start_index, citation.end_index))
    return sorted(sources.values(), key=lambda source: source.index)


def source_of(citation: Citation) -> Source:
    """The source of a citation, without spans."""
    shared = (field.name for field in attr.fields(Source) if field.name != "spans")
    return Source(**{name: getattr(citation, name) for name in shared})


def _with_marks(text: str, citations: Sequence[Citation]) -> str:
    pieces, done = [], 0
    for end, index in sorted({(citation.end_index, citation.index) for citation in citations}):
        pieces += [text[done:end], f"[{index}]"]
        done = end
    return "".join(pieces) + text[done:]


def _plain_line(source: Source) -> str:
    where = f" <{source.url}>" if source.source_type == "web" and source.url else ""
    return f"[{source.index}] {source.label}{where}{_doubt(source)}"


def _markdown_line(source: Source) -> str:
    label = _escaped(source.label)
    if source.source_type == "web" and _is_link(source.url):
        label = f"[{label}](<{source.url}>)"
    return f"{source.index}. {label}{_doubt(source)}"


def _is_link(url: Optional[str]) -> bool:
    # Titles and URLs come from the web: nothing but a plain link may become a link.
    return (
        bool(url)
        and str(url).startswith(("http://", "https://"))
        and not set("<>\n") & set(str(url))
    )


def _escaped(text: str) -> str:
    special = "\\`*_[]<>#|"
    return "".join("\\" + char if char in special else char for char in " ".join(text.split()))


def _doubt(source: Source) -> str:
    return "" if source.resolved else " (source unknown)"


_STYLES = {"plain": _plain_line, "markdown": _markdown_line}
