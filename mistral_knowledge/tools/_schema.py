"""JSON Schema of a declared class."""

from __future__ import annotations

import copy
import typing
from typing import Any, Dict, List, Mapping, NamedTuple, Type

import attr

from ._fields import WORDS

KINDS: Dict[Any, str] = {str: "string", int: "integer", bool: "boolean"}


class Field(NamedTuple):
    """A field of a declared class; `hint` is its type without Optional."""

    name: str
    hint: Any
    words: Mapping[str, Any]
    required: bool


def object_schema(declared: Type[Any], closed: bool = False) -> Dict[str, Any]:
    """The schema of its fields; `closed` allows no others."""
    fields = fields_of(declared)
    # Whoever gets a schema may change it.
    properties = {one.name: {**_of(one.hint), **copy.deepcopy(one.words)} for one in fields}
    required = [one.name for one in fields if one.required]
    schema = {"type": "object", "properties": properties, "required": required}
    return {**schema, "additionalProperties": False} if closed else schema


def fields_of(declared: Type[Any]) -> List[Field]:
    """The fields of a declared class, in their order."""
    hints = typing.get_type_hints(declared)
    return [
        Field(one.name, _plain(hints[one.name]), one.metadata[WORDS], one.default is attr.NOTHING)
        for one in attr.fields(declared)
    ]


def _plain(hint: Any) -> Any:
    if typing.get_origin(hint) is typing.Union:
        return next(one for one in typing.get_args(hint) if one is not type(None))
    return hint


def _of(hint: Any) -> Dict[str, Any]:
    if typing.get_origin(hint) is list:
        return {"type": "array", "items": _of(typing.get_args(hint)[0])}
    return object_schema(hint) if attr.has(hint) else {"type": KINDS[hint]}
