"""Values of request bodies, checked for their kind."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, Optional

from .problems import invalid


def text(body: Mapping[str, Any], name: str) -> Optional[str]:
    """A text, or None where it is not set; 422 for another kind."""
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(f"{name}: a text is expected")
    return value


def flag(body: Mapping[str, Any], name: str, default: bool = False) -> bool:
    """True or False; 422 for another kind."""
    value = body.get(name)
    value = default if value is None else value
    if not isinstance(value, bool):
        raise invalid(f"{name}: true or false is expected")
    return value


def number(body: Mapping[str, Any], name: str) -> Any:
    """A number, or None where it is not set; 422 for another kind."""
    value = body.get(name)
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is not None and not (plain and _is_finite(value)):
        raise invalid(f"{name}: a number is expected")
    return value


def mapping(body: Mapping[str, Any], name: str) -> Dict[str, Any]:
    """An object, empty where it is not set; 422 for another kind."""
    value = body.get(name)
    value = {} if value is None else value
    if not isinstance(value, dict):
        raise invalid(f"{name}: an object is expected")
    return value


def names(body: Mapping[str, Any], name: str) -> Optional[List[str]]:
    """A list of texts, or None where it is not set; 422 for another kind."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise invalid(f"{name}: a list of names is expected")
    return value


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
