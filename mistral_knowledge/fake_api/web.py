"""The web as far as it is there offline: pages that were given, found as passages are."""

from __future__ import annotations

from typing import Any, List, Mapping, Sequence

from ..errors import InvalidArgumentError
from .retrieval import Passage, Retrieval
from .store import Store

_WEB = "web"


class Web:
    """An index over `pages`, each with `title`, `url` and `text`; not kept in any file."""

    def __init__(self, pages: Sequence[Mapping[str, Any]] = ()) -> None:
        self.empty = not pages
        self._store = Store()
        self._retrieval = Retrieval(self._store)
        with self._store.transaction():
            # Of two pages at one place the later one counts.
            for page in {page["url"]: page for page in map(_checked, pages)}.values():
                self._add(page)

    def search(self, question: str) -> List[Passage]:
        """The best passages; `document_id` is the page's URL."""
        return self._retrieval.search([_WEB], question)

    def close(self) -> None:
        """Let go of it; safe to call again."""
        self._store.close()

    def _add(self, page: Mapping[str, str]) -> None:
        url = page["url"]
        state = {"outcome": "done", "polls": 0, "polls_needed": 0}
        self._store.insert("documents", id=url, library_id=_WEB, name=page["title"], **state)
        self._retrieval.add(_WEB, url, [page["text"]])


def _checked(page: Mapping[str, Any]) -> Mapping[str, str]:
    if not all(isinstance(page.get(name), str) for name in ("title", "url", "text")):
        raise InvalidArgumentError("web_pages= are objects with title, url and text")
    return page
