"""JSON from outside, which may be anything. Pure."""

from __future__ import annotations

import json
from typing import Any, Union


def read_json(text: Union[str, bytes]) -> Any:
    """The value of `text`, bytes read as UTF-8; ValueError for what is none or nests too deep."""
    try:
        return json.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("it nests too deep") from None


def json_text(value: Any) -> str:
    """A value that came as JSON, as text; empty where it nests too deep."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""
