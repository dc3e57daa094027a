"""Libraries, documents and files as tables; never a URL, for notebooks get committed."""

from __future__ import annotations

import datetime
import html
import operator
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple, Type

from ..models.answers import Usage
from ..models.conversations import Conversation, Entry
from ..models.documents import Document
from ..models.files import File
from ..models.libraries import Library, Share

Column = Tuple[str, Callable[[Any], Any]]


def _columns(**attributes: str) -> Sequence[Column]:
    """Columns by their headings; a heading's `_` is a blank."""
    return [(head.replace("_", " "), operator.attrgetter(of)) for head, of in attributes.items()]


_COLUMNS: Dict[Type[Any], Sequence[Column]] = {
    Library: _columns(
        name="name",
        description="description",
        documents="nb_documents",
        bytes="total_size",
        id="id",
        created="created_at",
    ),
    Document: _columns(
        name="name",
        status="status",
        bytes="size",
        pages="number_of_pages",
        id="id",
        created="created_at",
    ),
    File: _columns(
        name="filename",
        bytes="size",
        purpose="purpose",
        visible_to="visibility",
        id="id",
        created="created_at",
    ),
    Share: _columns(shared_with="share_with_type", id="share_with_uuid", role="role"),
    Conversation: _columns(
        name="name", model="model", agent="agent_id", id="id", created="created_at"
    ),
    Entry: _columns(type="type", role="role", name="name", text="text", id="id"),
    Usage: _columns(
        prompt_tokens="prompt_tokens",
        completion_tokens="completion_tokens",
        total_tokens="total_tokens",
        connector_tokens="connector_tokens",
    ),
}
_MORE_OF_ONE: Dict[Type[Any], Sequence[Column]] = {
    Document: _columns(type="mime_type", summary="summary", library="library_id"),
}


_LEFT = ' style="text-align: left"'  # notebooks would put all of it to the right


class Table:
    """A list as a table: what `table()` gives, and a notebook shows."""

    def __init__(self, items: Iterable[Any], note: str = "") -> None:
        self._items = list(items)
        self._note = note

    def _repr_html_(self) -> str:
        return _rows(self._items) + (
            f"<p><em>{html.escape(self._note)}</em></p>" * bool(self._note)
        )

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self._items), *([self._note] if self._note else [])])


def table(items: Iterable[Any]) -> Table:
    """Libraries, documents or files (any models of one kind) as a table."""
    return Table(items)


def item_html(item: Any) -> str:
    """One model, its fields one under the other; what is not known is left out."""
    columns = [*_COLUMNS[type(item)], *_MORE_OF_ONE.get(type(item), ())]
    told = [(name, get(item)) for name, get in columns]
    rows = [_row([name, _shown(value)], "th") for name, value in told if value is not None]
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _rows(items: List[Any]) -> str:
    if not items:
        return "<p><em>none</em></p>"
    columns = _COLUMNS.get(type(items[0]))
    if columns is None or any(type(item) is not type(items[0]) for item in items):
        return "".join(f"<div>{html.escape(repr(item))}</div>" for item in items)
    head = _row([name for name, _ in columns], "th", "th")
    body = "".join(_row([_shown(get(item)) for _, get in columns]) for item in items)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _row(cells: Sequence[str], first: str = "td", others: str = "td") -> str:
    kinds = [first, *[others] * (len(cells) - 1)]
    shown = (f"<{kind}{_LEFT}>{html.escape(cell)}</{kind}>" for kind, cell in zip(kinds, cells))
    return f"<tr>{''.join(shown)}</tr>"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "minutes")
    return str(value)
