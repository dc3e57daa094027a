"""One request on its way through a route: what the route may ask it."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Optional, Sequence
from urllib.parse import parse_qs

import attr

from .checks import Fields, issues_of
from .exchange import ApiRequest
from .problems import detail, invalid, issue

_LONGEST_JSON = 64 * 1024 * 1024
_LARGEST = 2**31 - 1
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@attr.s(slots=True, eq=False)
class Call:
    """A request and the names in its path."""

    request: ApiRequest = attr.ib()
    names: Dict[str, str] = attr.ib(factory=dict)
    _query: Optional[Dict[str, List[str]]] = attr.ib(default=None, repr=False)

    def all_of(self, name: str) -> List[str]:
        """Every value of a query parameter."""
        if self._query is None:
            self._query = parse_qs(self.request.query, keep_blank_values=True)
        return self._query.get(name, [])

    def text(self, name: str, default: Optional[str] = None) -> Optional[str]:
        """A query parameter; the last one wins."""
        values = self.all_of(name)
        return values[-1] if values else default

    def choice(self, name: str, choices: Sequence[str], default: str) -> str:
        """A query parameter that has to be one of `choices`."""
        value = self.text(name) or default
        if value not in choices:
            words = "Input should be " + " or ".join(repr(choice) for choice in choices)
            raise invalid([issue(["query", name], "enum", words, value)])
        return value

    def flag(self, name: str, default: bool) -> bool:
        """A query parameter that is true or false."""
        value = (self.text(name) or str(default)).lower()
        if value not in ("true", "false", "1", "0"):
            words = "Input should be a valid boolean"
            raise invalid([issue(["query", name], "bool_parsing", words, value)])
        return value in ("true", "1")

    def number(
        self, name: str, default: Optional[int], low: int = 0, high: Optional[int] = None
    ) -> Optional[int]:
        """A query parameter that is an integer from `low` to `high`."""
        value = self.text(name)
        if value is None:
            return default
        try:
            number = int(value)
        except ValueError:
            words = "Input should be a valid integer"
            raise invalid([issue(["query", name], "int_parsing", words, value)]) from None
        self._in_range(name, number, low, high)
        return number

    def _in_range(self, name: str, number: int, low: int, high: Optional[int]) -> None:
        place, value = ["query", name], str(number)
        if number < low:
            words = f"Input should be greater than or equal to {low}"
            raise invalid([issue(place, "greater_than_equal", words, value)])
        high = _LARGEST if high is None else high
        if number > high:
            words = f"Input should be less than or equal to {high}"
            raise invalid([issue(place, "less_than_equal", words, value)])

    def json(self) -> Any:
        """The body as JSON; 422 if it is none."""
        body = bytearray()
        for block in self.request.blocks():
            body += block
            if len(body) > _LONGEST_JSON:
                raise detail(413, "Request Entity Too Large")
        try:
            return _without_surrogates(json.loads(body.decode("utf-8")), bytes(body))
        except (ValueError, RecursionError):
            raise invalid([issue(["body", 0], "json_invalid", "JSON decode error", {})]) from None

    def object(self, fields: Fields) -> Dict[str, Any]:
        """The body as a JSON object with these fields; 422 if it does not fit."""
        body = self.json()
        issues = issues_of(body, fields)
        if issues:
            raise invalid(issues)
        return {name: value for name, value in body.items() if name in fields}


def _without_surrogates(value: Any, source: bytes) -> Any:
    # JSON may spell halves of characters, which no UTF-8 file or database can hold.
    if not _SURROGATE.search(source):
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
