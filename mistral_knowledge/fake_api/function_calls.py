"""Which functions a question calls, and with which arguments: by plain rules, not by a model.

A function is called where the question names it: `order_status` or "order status". Its arguments
are the JSON object behind its name (or the first in the question). Without one they come from the
schema: `default`, `const`, the first of `enum`, else the next number or quoted text of the
question, else the question itself for a text and an empty value for everything else. What is not
required and not in the question is left out.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")
_QUOTED = re.compile('["“«]([^"”»]+)["”»]')
_EMPTY: Dict[str, Any] = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
_ABSENT = object()


def named_at(question: str, name: str) -> Optional[int]:
    """Where the question names a tool: the end of its name; None if it does not."""
    words = [re.escape(word) for word in re.split(r"[\W_]+", name) if word]
    if not words:
        return None
    pattern = r"(?<![^\W_])" + r"[\s_.-]*".join(words) + r"(?![^\W_])"
    match = re.search(pattern, question, re.IGNORECASE)
    return match.end() if match else None


def arguments_for(question: str, name: str, schema: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments of a call of the function `name`."""
    given = _object_in(question, named_at(question, name) or 0)
    return _from_schema(question, schema) if given is None else given


def _object_in(question: str, start: int) -> Optional[Dict[str, Any]]:
    places = [match.start() for match in re.finditer(r"\{", question)]
    for place in [at for at in places if at >= start] + [at for at in places if at < start]:
        try:
            value, _ = json.JSONDecoder().raw_decode(question, place)
        except (ValueError, RecursionError):
            continue
        return dict(value)
    return None


def _from_schema(question: str, schema: Mapping[str, Any]) -> Dict[str, Any]:
    properties = schema.get("properties")
    required = schema.get("required")
    numbers, texts = iter(_NUMBER.findall(question)), iter(_QUOTED.findall(question))
    arguments: Dict[str, Any] = {}
    for name, one in (properties if isinstance(properties, dict) else {}).items():
        one = _plain(one)
        value = _given(one, numbers, texts)
        if value is _ABSENT and isinstance(required, list) and name in required:
            value = _EMPTY.get(one.get("type", ""), question)
        if value is not _ABSENT:
            arguments[name] = value
    return arguments


def _plain(schema: Any) -> Mapping[str, Any]:
    """The schema of a property; of an optional one, what it is if it is there."""
    if not isinstance(schema, dict):
        return {}
    choices: List[Any] = schema.get("anyOf") or []
    kinds = [one for one in choices if isinstance(one, dict) and one.get("type") != "null"]
    return {**kinds[0], **schema} if kinds else schema


def _given(schema: Mapping[str, Any], numbers: Iterator[str], texts: Iterator[str]) -> Any:
    for value in (schema.get("const", _ABSENT), schema.get("default", _ABSENT)):
        if value is not _ABSENT:
            return value
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if kind in ("integer", "number"):
        found = next(numbers, None)
        return _ABSENT if found is None else _number(found, kind)
    return next(texts, _ABSENT) if kind == "string" else _ABSENT


def _number(text: str, kind: str) -> Any:
    value = float(text)
    return int(value) if kind == "integer" or value.is_integer() else value
