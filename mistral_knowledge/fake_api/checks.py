"""Checks of JSON bodies, field by field, with the words of a 422."""

from __future__ import annotations

import datetime
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import attr

from .problems import Issue, issue, missing

Place = Tuple[Union[str, int], ...]


def is_uuid(text: Any) -> bool:
    """Whether `text` is a UUID in its usual form."""
    try:
        return isinstance(text, str) and str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _is_time(value: Any) -> bool:
    try:
        datetime.datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        return False
    return isinstance(value, str)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_KINDS: Dict[str, Tuple[Callable[[Any], bool], str, str]] = {
    "any": (lambda value: True, "", ""),
    "str": (lambda value: isinstance(value, str), "string_type", "Input should be a valid string"),
    "bool": (lambda value: isinstance(value, bool), "bool_type", "Input should be a valid boolean"),
    "int": (_is_int, "int_type", "Input should be a valid integer"),
    "number": (_is_number, "float_type", "Input should be a valid number"),
    "list": (lambda value: isinstance(value, list), "list_type", "Input should be a valid list"),
    "object": (lambda v: isinstance(v, dict), "dict_type", "Input should be a valid dictionary"),
    "uuid": (is_uuid, "uuid_parsing", "Input should be a valid UUID"),
    "time": (_is_time, "datetime_parsing", "Input should be a valid datetime"),
}


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Field:
    """What one field of a JSON body may hold."""

    kind: str = "any"
    required: bool = False
    nullable: bool = True
    low: Optional[float] = None
    high: Optional[float] = None
    choices: Optional[Sequence[str]] = None

    def issues(self, place: Place, value: Any) -> List[Issue]:
        """What is wrong with `value`; an empty list if nothing."""
        if value is None and self.nullable:
            return []
        fits, kind, words = _KINDS[self.kind]
        if not fits(value):
            return [issue(place, kind, words, value)]
        return self._choice(place, value) or self._range(place, value)

    def _choice(self, place: Place, value: Any) -> List[Issue]:
        if self.choices is None or value in self.choices:
            return []
        options = " or ".join(repr(choice) for choice in self.choices)
        return [issue(place, "enum", f"Input should be {options}", value)]

    def _range(self, place: Place, value: Any) -> List[Issue]:
        if self.low is not None and value < self.low:
            words = f"Input should be greater than or equal to {self.low:g}"
            return [issue(place, "greater_than_equal", words, value)]
        if self.high is not None and value > self.high:
            words = f"Input should be less than or equal to {self.high:g}"
            return [issue(place, "less_than_equal", words, value)]
        return []


Fields = Mapping[str, Field]


def issues_of(
    body: Any, fields: Fields, place: Place = ("body",), forbid_extra: bool = False
) -> List[Issue]:
    """Everything that is wrong with an object."""
    if not isinstance(body, dict):
        return [issue(place, "model_attributes_type", "Input should be a valid dictionary", body)]
    found = [
        missing(*place, name)
        for name, field in fields.items()
        if field.required and name not in body
    ]
    for name, value in body.items():
        if name in fields:
            found += fields[name].issues((*place, name), value)
        elif forbid_extra:
            words = "Extra inputs are not permitted"
            found.append(issue((*place, name), "extra_forbidden", words, value))
    return found
