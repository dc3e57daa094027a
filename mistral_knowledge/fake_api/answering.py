"""From a question to an answer and its token counts, for every endpoint that answers."""

from __future__ import annotations

import json
from typing import List, Optional, Sequence

import attr

from .composer import NO_LIBRARY, Part, cut, quotes, text_of
from .parts import Parts
from .retrieval import Passage
from .steps import Asking
from .tokens import count_tokens


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Composed:
    """An answer: its parts, why it ended, and the tokens it took."""

    parts: List[Part]
    finish_reason: str
    prompt_tokens: int
    passage_tokens: int
    completion_tokens: int
    calls: Sequence[Asking] = ()


def compose(
    parts: Parts,
    question: str,
    prompt: str,
    library_ids: Optional[Sequence[str]],
    max_tokens: Optional[int] = None,
    told: Sequence[str] = (),
) -> Composed:
    """Answer `question` from the libraries; `prompt` is all that counts as input.

    `library_ids` None: no library may be used. `max_tokens` cuts the answer off. `told` are
    paragraphs that come first.
    """
    found = parts.retrieval.search(library_ids or [], question)
    whole = _whole(parts, found, library_ids, told)
    kept = whole if max_tokens is None else cut(whole, max_tokens)
    return Composed(
        kept,
        "stop" if text_of(kept) == text_of(whole) else "length",
        count_tokens(prompt),
        sum(count_tokens(passage.text) for passage in found),
        count_tokens(text_of(kept)),
    )


def calling(prompt: str, calls: Sequence[Asking]) -> Composed:
    """In place of an answer, calls of functions."""
    written = sum(count_tokens(f"{call.name} {json.dumps(call.arguments)}") for call in calls)
    return Composed([], "tool_calls", count_tokens(prompt), 0, written, calls)


def _whole(
    parts: Parts,
    found: List[Passage],
    library_ids: Optional[Sequence[str]],
    told: Sequence[str],
) -> List[Part]:
    if library_ids is None:
        return ["\n\n".join(told) or NO_LIBRARY]
    first, *rest = quotes(found, waiting_documents(parts, library_ids))
    return ["\n\n".join([*told, text_of([first])]), *rest]


def waiting_documents(parts: Parts, library_ids: Sequence[str]) -> int:
    """How many documents of these libraries cannot be searched yet."""
    marks = ", ".join("?" for _ in library_ids)
    sql = "SELECT count(*) FROM documents WHERE polls < polls_needed"
    return parts.store.number(f"{sql} AND library_id IN ({marks})", *library_ids)
