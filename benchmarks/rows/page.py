"""A page of 100 documents: from the socket to typed objects."""

from __future__ import annotations

from typing import Any, List

from ..contenders import official, ours, serving, session
from ..measuring import Effort, Work, cpu, medians
from ..report import Line, at_most
from ..wire import LIBRARY

ITEMS = 100


def run(effort: Effort) -> List[Line]:
    """Milliseconds a page."""
    pages = effort.size(30, 2)

    def milliseconds(read: Work) -> float:
        return cpu(lambda: [read() for _ in range(pages)]) / pages * 1000

    with serving() as server:
        url = f"{server}/page/{ITEMS}"
        readers = {"ours": _ours(url), "mistralai": _official(url), "floor": _floor(url)}
        figures = {name: lambda read=read: milliseconds(read) for name, read in readers.items()}
        found = medians(figures, effort.times(15))
    line = Line("page of 100 documents", "ms", **found)
    line.checks.append(at_most(0.8, line.to_mistralai, "at most 0.8 of mistralai's time"))
    return [line]


def _ours(url: str) -> Work:
    client = ours(url)
    return lambda: _check(list(client.documents.list(LIBRARY)))


def _official(url: str) -> Work:
    documents = official(url).beta.libraries.documents
    return lambda: _check(documents.list(library_id=LIBRARY).data)


def _check(documents: List[Any]) -> None:
    assert len(documents) == ITEMS
    assert documents[-1].created_at.year == 2025


def _floor(url: str) -> Work:
    """Through requests to plain dictionaries."""
    http = session()

    def read() -> None:
        reply = http.get(f"{url}/v1/libraries/{LIBRARY}/documents?page_size=100&page=0")
        assert len(reply.json()["data"]) == ITEMS

    return read
