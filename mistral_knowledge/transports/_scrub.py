"""Taking what is secret out of the errors of other libraries, before ours are chained to them."""

from __future__ import annotations

from typing import Any, List, Optional
from urllib.parse import urlsplit

from .._secrets import is_harmless, is_secret, redact
from . import Request

# Of headers that callers named themselves; without shorter words errors would be unreadable.
_SHORTEST_SECRET = 8


class Secrets:
    """The words of one request that no error may show: credentials and the query of its URL.

    host: what may be shown of the URL, with the port
    """

    def __init__(self, request: Request) -> None:
        parts = urlsplit(request.url)
        self.host = parts.netloc.rpartition("@")[2]
        query = parts.query
        self._words: List[str] = [f"?{query}"] if query else []
        for name, value in request.headers.items():
            if is_secret(name):
                self._words += [value, value.rpartition(" ")[2]]
            elif not is_harmless(name) and len(value) >= _SHORTEST_SECRET:
                self._words.append(value)

    def hide(self, text: str) -> str:
        """`text` without them."""
        return redact(text, self._words)


def chain_of(error: Optional[BaseException], outer: Optional[BaseException]) -> List[BaseException]:
    """`error` and all that it wraps or follows from, up to what the caller was handling before."""
    found: List[BaseException] = []
    waiting: List[Any] = [error]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, BaseException) or item is outer or item in found:
            continue
        found.append(item)
        waiting += [*item.args, *vars(item).values(), item.__context__, item.__cause__]
    return found


def scrub(chain: List[BaseException], secrets: Secrets) -> None:
    """Keep types and harmless words of the errors; drop requests, bodies, pools and frames."""
    for error in chain:
        error.__traceback__ = None
        error.args = tuple(_harmless(value, secrets) for value in error.args)
        for name, value in list(vars(error).items()):
            setattr(error, name, _harmless(value, secrets))


def _harmless(value: Any, secrets: Secrets) -> Any:
    if value is None or isinstance(value, (bool, int, float, BaseException)):
        return value
    if isinstance(value, str):
        return secrets.hide(value)
    return b"" if isinstance(value, bytes) else None
