"""Words for the index and for questions: the same treatment on both sides."""

from __future__ import annotations

import re
import unicodedata
from typing import List

from .stop_words import STOP_WORDS

_MOST_TERMS = 64
# Scripts written without blanks: the index would take a whole sentence of them for one word.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_UNSPACED_CHAR = re.compile(f"([{_UNSPACED}])")
_TERM = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")


def indexed(text: str) -> str:
    """`text` as the index takes it."""
    return _UNSPACED_CHAR.sub(r" \1 ", unicodedata.normalize("NFKC", text))


def terms_of(question: str) -> List[str]:
    """The words of a question that say what it is about; all of them if none does."""
    plain = unicodedata.normalize("NFKC", question).casefold()
    terms = list(dict.fromkeys(term for run in _TERM.findall(plain) for term in _terms_in(run)))
    telling = [term for term in terms if term not in STOP_WORDS]
    return (telling or terms)[:_MOST_TERMS]


def query_of(question: str) -> str:
    """An FTS5 query for a question: any of its words; "" if it has none.

    Each word is quoted, so that nothing in it is taken for an operator.
    """
    return " OR ".join(f'"{indexed(term).strip()}"' for term in terms_of(question))


def _terms_in(run: str) -> List[str]:
    if len(run) < 3 or not _UNSPACED_CHAR.match(run):
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]
