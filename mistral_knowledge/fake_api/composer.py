"""The answer to a question, before it takes the form of any endpoint: texts and sources."""

from __future__ import annotations

from typing import List, Sequence, TypeVar, Union

import attr

from .retrieval import Passage
from .tokens import count_tokens, first_tokens

NOTHING_FOUND = "No passage in the given libraries matches this question."
NO_LIBRARY = (
    "This is the offline stand-in for a language model: it answers only from libraries, "
    "through the document_library tool."
)


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Source:
    """A citation: the document that the text just before it comes from."""

    document_id: str
    library_id: str
    name: str


Part = Union[str, Source]
Other = TypeVar("Other")


def quotes(passages: Sequence[Passage], waiting: int = 0) -> List[Part]:
    """An answer that quotes the passages, a source behind each; honest if there are none.

    `waiting` is how many documents could not be searched yet.
    """
    parts: List[Part] = [] if passages else [NOTHING_FOUND]
    for number, passage in enumerate(passages):
        parts.append(("\n\n" if number else "") + f"“{passage.text}”")
        parts.append(Source(passage.document_id, passage.library_id, passage.name))
    if waiting:
        gap = "\n\n" if passages else " "
        verb = "document is" if waiting == 1 else "documents are"
        parts.append(f"{gap}({waiting} {verb} still being processed.)")
    return parts


def cut(parts: Sequence[Union[str, Other]], most: int) -> List[Union[str, Other]]:
    """The first `most` tokens of an answer, with the sources that come before the cut."""
    kept: List[Union[str, Other]] = []
    for part in parts:
        if not isinstance(part, str):
            kept.append(part)
            continue
        if count_tokens(part) > most:
            return [*kept, first_tokens(part, most)]
        most -= count_tokens(part)
        kept.append(part)
    return kept


def text_of(parts: Sequence[object]) -> str:
    """The text of an answer, without its sources."""
    return "".join(part for part in parts if isinstance(part, str))
