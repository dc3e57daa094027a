"""The tool for questions: `mistral_document_query`."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import attr

from ..models.answers import Answer, Chunk, Citation, PartialAnswer
from ._declaring import Declaration, Outcome, Task
from ._fields import field
from .result import ToolResult

NAME = "mistral_document_query"


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class DocumentQuery:
    """The arguments of `mistral_document_query`."""

    question: str = field("What to ask, as a whole sentence.", minLength=1)
    library_ids: List[str] = field(
        "The ids of the libraries to ask, as mistral_library_list gives them.",
        minItems=1,
        maxItems=100,
    )


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class CitationOutput:
    """What an answer rests on, at one place."""

    index: int = field("The number that marks it in the text.")
    title: Optional[str] = field("The name of the source.", None)
    document_id: Optional[str] = field("The id of the document.", None)
    url: Optional[str] = field("Of a source on the web; URLs of documents are left out.", None)


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class ChunkOutput:
    """A piece of an answer."""

    type: str = field("text, or what kind of citation.")
    text: str = field("Its part of the text.", "")
    citations: List[CitationOutput] = field("What it cites.")


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class QueryOutput:
    """What `mistral_document_query` gives."""

    text: str = field("The answer.")
    chunks: List[ChunkOutput] = field("The answer in pieces, with its citations in their places.")
    truncated: bool = field("Whether the answer ran into a length limit.")


def _query(task: Task, asked: DocumentQuery) -> Outcome:
    answer = task.client.rag.query(
        asked.question,
        libraries=asked.library_ids,
        signal=task.signal,
        on_update=_partials(task, asked.library_ids),
    )
    words = answer.render() if answer.text.strip() else "The libraries hold no answer to that."
    words += "\n\n(The answer ran into a length limit.)" if answer.truncated else ""
    output = QueryOutput(
        text=answer.text,
        chunks=[_chunk(chunk) for chunk in answer.chunks],
        truncated=answer.truncated,
    )
    return Outcome(words, output, _details(asked, answer), answer.usage)


def _partials(task: Task, library_ids: List[str]) -> Optional[Callable[[PartialAnswer], None]]:
    on_update = task.on_update
    if on_update is None:
        return None
    details = {"tool": NAME, "library_ids": library_ids, "partial": True}

    def update(partial: PartialAnswer) -> None:
        on_update(ToolResult(partial, details=details, usage=partial.usage))

    return update


def _details(asked: DocumentQuery, answer: Answer) -> Dict[str, Any]:
    told = answer.log_fields()
    kept = ("answer_id", "request_id", "model", "finish_reason", "citations")
    return {"library_ids": asked.library_ids, **{name: told[name] for name in kept}}


def _chunk(chunk: Chunk) -> ChunkOutput:
    citations = [_citation(citation) for citation in chunk.citations]
    return ChunkOutput(type=chunk.type, text=chunk.text, citations=citations)


def _citation(citation: Citation) -> CitationOutput:
    # The URL of a document is signed: it opens the document for whoever reads the transcript.
    return CitationOutput(
        index=citation.index,
        title=citation.title,
        document_id=citation.document_id,
        url=citation.url if citation.source_type == "web" else None,
    )


DOCUMENT_QUERY = Declaration(
    name=NAME,
    title="Ask documents",
    description="Ask a question of the documents in one or several libraries; the answer says "
    "which documents it rests on. Costs money: the tokens of each question and answer are billed.",
    arguments=DocumentQuery,
    output=QueryOutput,
    run=_query,
    read_only=True,
)
