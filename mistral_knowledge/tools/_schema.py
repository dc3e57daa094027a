"""JSON Schema of a declared class."""

from __future__ import annotations

import copy
import typing
from typing import Any, Dict, List, Tuple, Type

import attr

from ._fields import WORDS

KINDS: Dict[Any, str] = {str: "string", int: "integer", bool: "boolean", float: "number"}


def object_schema(declared: Type[Any], closed: bool = False) -> Dict[str, Any]:
    """The schema of its fields; `closed` allows no others."""
    schema: Dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {**_of(hint), **copy.deepcopy(words)} for name, hint, words, _ in fields_of(declared)
        },
        "required": [name for name, _, _, required in fields_of(declared) if required],
    }
    return {**schema, "additionalProperties": False} if closed else schema


def fields_of(declared: Type[Any]) -> List[Tuple[str, Any, Dict[str, Any], bool]]:
    """(name, type without Optional, words of JSON Schema, whether required) of each field."""
    hints = typing.get_type_hints(declared)
    return [
        (one.name, plain(hints[one.name]), one.metadata[WORDS], one.default is attr.NOTHING)
        for one in attr.fields(declared)
    ]


def plain(hint: Any) -> Any:
    """The type in `Optional[...]`."""
    if typing.get_origin(hint) is typing.Union:
        return next(one for one in typing.get_args(hint) if one is not type(None))
    return hint


def _of(hint: Any) -> Dict[str, Any]:
    if typing.get_origin(hint) is list:
        return {"type": "array", "items": _of(typing.get_args(hint)[0])}
    if attr.has(hint):
        return object_schema(hint)
    return {"type": KINDS[hint]}
