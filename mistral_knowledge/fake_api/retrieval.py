"""Finding the passages that speak of what a question asks: SQLite FTS5, ranked by bm25."""

from __future__ import annotations

import sqlite3
from typing import Dict, List, Sequence

import attr

from .passages import passages_of
from .store import Store
from .words import indexed, query_of

MOST = 3
# A passage this much weaker than the best one shares a word with the question, hardly its subject.
_WEAKEST = 0.4

_SEARCH = """
SELECT passages.text, passages.page, passages.document_id, documents.name, documents.library_id,
       bm25(passage_words) AS rank
FROM passage_words
JOIN passages ON passages.id = passage_words.rowid
JOIN documents ON documents.id = passages.document_id
WHERE passage_words MATCH ? AND passages.library_id IN ({marks})
      AND documents.outcome = 'done' AND documents.polls >= documents.polls_needed
ORDER BY rank, passages.id LIMIT ?
"""


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Passage:
    """A piece of a document that speaks of the question; a higher `score` is better."""

    document_id: str
    library_id: str
    name: str
    page: int
    text: str = attr.ib(repr=False)
    score: float


class Retrieval:
    """The index over all documents' passages."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, library_id: str, document_id: str, pages: Sequence[str]) -> None:
        """Index a document; call it within a transaction."""
        for number, page in enumerate(pages, 1):
            for text in passages_of(page):
                row_id = self._store.insert(
                    "passages",
                    library_id=library_id,
                    document_id=document_id,
                    page=number,
                    text=text,
                )
                self._store.insert("passage_words", rowid=row_id, words=indexed(text))

    def remove(self, document_id: str) -> None:
        """Forget a document; call it within a transaction."""
        ids = "(SELECT id FROM passages WHERE document_id = ?)"
        self._store.run(f"DELETE FROM passage_words WHERE rowid IN {ids}", document_id)
        self._store.run("DELETE FROM passages WHERE document_id = ?", document_id)

    def search(self, library_ids: Sequence[str], question: str, most: int = MOST) -> List[Passage]:
        """The best passages of these libraries, best first; an empty list if none matches."""
        query = query_of(question)
        if not query or not library_ids:
            return []
        sql = _SEARCH.format(marks=", ".join("?" for _ in library_ids))
        rows = self._store.rows(sql, query, *library_ids, most * 4)
        return _best([_passage(row) for row in rows])[:most]


def _passage(row: sqlite3.Row) -> Passage:
    return Passage(
        row["document_id"],
        row["library_id"],
        row["name"],
        row["page"],
        row["text"],
        -row["rank"],
    )


def _best(passages: List[Passage]) -> List[Passage]:
    distinct: Dict[str, Passage] = {}
    for passage in passages:
        distinct.setdefault(passage.text, passage)
    least = passages[0].score * _WEAKEST if passages else 0.0
    return [passage for passage in distinct.values() if passage.score >= least]
