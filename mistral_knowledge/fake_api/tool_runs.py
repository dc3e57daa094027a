"""The tools that run offline, and those that say that they do not."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence

from .answering import waiting_documents
from .composer import Source, quotes
from .conversation_tools import LIBRARY
from .parts import Parts
from .retrieval import Passage
from .steps import Piece, Reference, Run
from .tokens import count_tokens

NO_WEB = "There is no web here: this is the offline stand-in, and no web page was given to it."
NO_PAGE = "No web page that was given to this stand-in matches this question."


def look_into_libraries(parts: Parts, library_ids: Sequence[str], question: str) -> Run:
    """Search the libraries, and quote what they say."""
    found = parts.retrieval.search(library_ids, question)

    def url(document_id: str) -> str:
        return parts.links.lasting("original", document_id)

    results = [
        {
            "title": passage.name,
            "url": url(passage.document_id),
            "document_id": passage.document_id,
            "score": passage.score,
        }
        for passage in found
    ]
    arguments = {"query": question, "library_ids": list(library_ids)}
    pieces = _cited(LIBRARY, found, waiting_documents(parts, library_ids), url)
    return Run(LIBRARY, arguments, {"results": results}, _tokens(found), pieces)


def look_into_web(parts: Parts, tool: str, question: str) -> Run:
    """Search the web pages that were given; without any, say so."""
    found = parts.web.search(question)
    results = [{"title": one.name, "url": one.document_id, "score": one.score} for one in found]
    pieces: List[Piece] = [NO_WEB if parts.web.empty else NO_PAGE]
    if found:
        pieces = _cited(tool, found, 0, str)
    return Run(tool, {"query": question}, {"results": results}, _tokens(found), pieces)


def stand_in_for(tool: str, question: str) -> Run:
    """Not run the tool, and say so: no code is run here, and no other server is asked."""
    words = f"{tool} was not run: this is the offline stand-in."
    info: Dict[str, Any] = {"note": words}
    if tool == "code_interpreter":
        info = {"code": "", "code_output": words}
    return Run(tool, {"query": question}, info, 0, [words])


def _cited(
    tool: str, found: Sequence[Passage], waiting: int, url: Callable[[str], str]
) -> List[Piece]:
    return [
        Reference(tool, part.name, url(part.document_id)) if isinstance(part, Source) else part
        for part in quotes(found, waiting)
    ]


def _tokens(found: Sequence[Passage]) -> int:
    return sum(count_tokens(passage.text) for passage in found)
