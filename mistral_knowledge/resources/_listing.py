"""Lists that fetch their pages as they are read, and that end on every strange server."""

from __future__ import annotations

from typing import Any, Callable, Generic, Iterator, List, Mapping, Optional, Set, Type, TypeVar

import attr

from ..errors import UnexpectedResponseError
from ..models._convert import Model, parse

Item = TypeVar("Item")


@attr.s(auto_attribs=True, slots=True)
class Page(Generic[Item]):
    """One page: its items, and what to ask for the next one (None: there is none)."""

    items: List[Item]
    next: Any = None


class Listing(Generic[Item]):
    """A lazy iterator over the items of all pages; `pages()` gives them page by page.

    The first request is made when the first item is asked for. An item that comes twice, because
    the list moved under the paging, is given once. A server that repeats itself ends the list. An
    error in the middle does not: the next item that is asked for asks for the same page again.
    """

    def __init__(self, fetch: Callable[[Any], Page[Item]], first: Any) -> None:
        self._fetch = fetch
        self._cursor = first
        self._more = True
        self._asked: Set[Any] = set()
        self._seen: Set[Any] = set()
        self._items: Iterator[Item] = iter(())

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        for item in self._items:
            return item
        page = self._next_page()
        if page is None:
            raise StopIteration
        self._items = iter(page)
        return next(self._items)

    def _repr_html_(self) -> str:
        from ..notebook._tables import Table

        shown = self._peek()
        return Table(shown, "... and more" if self._more else "")._repr_html_()

    def _peek(self) -> List[Item]:
        """What is left of the page that is being read, else the next one; nothing is used up."""
        left = list(self._items) or self._next_page() or []
        self._items = iter(left)
        return left

    def pages(self) -> Iterator[List[Item]]:
        """The same page by page, each a list."""
        return iter(self._next_page, None)

    def _next_page(self) -> Optional[List[Item]]:
        """The items of the next page that were not given yet; None at the end."""
        if not self._more:
            return None
        page = self._fetch(self._cursor)
        new = [item for item in page.items if _key(item) not in self._seen]
        self._seen.update(map(_key, new))
        self._asked.add(self._cursor)
        self._cursor = page.next
        self._more = bool(new) and page.next is not None and page.next not in self._asked
        return new or None


def _key(item: Any) -> Any:
    return item.id


def items_of(payload: Any, cls: Type[Model]) -> List[Model]:
    """The models in a page's `data` (or in a bare array)."""
    data = payload.get("data", payload) if isinstance(payload, Mapping) else payload
    if data is None and payload is not None:
        return []
    # An empty body is no empty list: it may have been cut, and `get_or_create` acts on it.
    if not isinstance(data, list):
        raise UnexpectedResponseError(f"expected a list of {cls.__name__}, got another shape")
    return [parse(cls, item) for item in data]


def next_number(payload: Any, number: int) -> Optional[int]:
    """The number of the next page, where the reply's `pagination` says there is one."""
    pagination = payload.get("pagination") if isinstance(payload, Mapping) else None
    more = isinstance(pagination, Mapping) and pagination.get("has_more")
    return number + 1 if more else None
