"""One reply in many forms: each of its fields left out, null, and with other values."""

from __future__ import annotations

import copy
import re
from typing import Any, Dict, Iterator, List, Tuple, Union

Place = Tuple[Union[str, int], ...]

_TIME = re.compile(r"\d{4}-\d\d-\d\dT")
_TIMES = [
    "2025-01-02T03:04:05Z",
    "2025-01-02T03:04:05.1Z",
    "2025-01-02T03:04:05.123456Z",
    "2025-01-02T03:04:05+02:00",
]
_NEW = {"invented": [1, {"by": "the server"}]}


def variations(payload: Any) -> Iterator[Tuple[str, Any]]:
    """(what was changed, the payload with that one change)."""
    for place in _places(payload):
        for value in _others(_at(payload, place)):
            yield f"{_name(place)} = {value!r}", _with(payload, place, value)
        if place and isinstance(place[-1], str):
            yield f"{_name(place)} left out", _without(payload, place)
        if isinstance(_at(payload, place), dict):
            yield (
                f"{_name(place)} with more",
                _with(payload, place, {**_at(payload, place), **_NEW}),
            )


def _others(value: Any) -> List[Any]:
    if value is None:
        return ["words", 5, {"a": 1}, _TIMES[0]]
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, str):
        return [None, "", "invented", "é\u2028“😀”", *(_TIMES if _TIME.match(value) else [])]
    if isinstance(value, int):
        return [None, 0, 7, "7", 2**33]
    return [None, {}] if isinstance(value, dict) else [None, []]


def _places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Everything in a payload, itself included; of a list the first and the last."""
    yield place
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places(inner, (*place, name))
    elif isinstance(value, list):
        for number in sorted({0, len(value) - 1} if value else ()):
            yield from _places(value[number], (*place, number))


def _at(payload: Any, place: Place) -> Any:
    for key in place:
        payload = payload[key]
    return payload


def _with(payload: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    varied = copy.deepcopy(payload)
    _at(varied, place[:-1])[place[-1]] = value
    return varied


def _without(payload: Any, place: Place) -> Any:
    varied = copy.deepcopy(payload)
    inner: Dict[Any, Any] = _at(varied, place[:-1])
    del inner[place[-1]]
    return varied


def _name(place: Place) -> str:
    return ".".join(map(str, place)) or "all"
