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
    the list moved under the paging, is given once. A server that repeats itself ends the list.
    """

    def __init__(self, fetch: Callable[[Any], Page[Item]], first: Any) -> None:
        self._pages = _pages(fetch, first)
        self._items = (item for page in self._pages for item in page)

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        return next(self._items)

    def pages(self) -> Iterator[List[Item]]:
        """The same page by page, each a list."""
        return self._pages


def _pages(fetch: Callable[[Any], Page[Item]], first: Any) -> Iterator[List[Item]]:
    seen: Set[Any] = set()
    asked: Set[Any] = set()
    cursor = first
    while cursor not in asked:
        asked.add(cursor)
        page = fetch(cursor)
        new = [item for item in page.items if _key(item) not in seen]
        seen.update(map(_key, new))
        if not new:
            return
        yield new
        if page.next is None:
            return
        cursor = page.next


def _key(item: Any) -> Any:
    return item.id


def items_of(payload: Any, cls: Type[Model]) -> List[Model]:
    """The models in a page's `data` (or in a bare array)."""
    data = payload.get("data") if isinstance(payload, Mapping) else payload
    if data is None:
        return []
    if not isinstance(data, list):
        raise UnexpectedResponseError(f"expected a list of {cls.__name__}, got another shape")
    return [parse(cls, item) for item in data]


def next_number(payload: Any, number: int) -> Optional[int]:
    """The number of the next page, where the reply's `pagination` says there is one."""
    pagination = payload.get("pagination") if isinstance(payload, Mapping) else None
    more = isinstance(pagination, Mapping) and pagination.get("has_more")
    return number + 1 if more else None
