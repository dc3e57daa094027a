"""Server-sent events as Mistral's servers write them."""

from __future__ import annotations

import json
import random
from typing import Any, Dict, Optional

DONE = b"data: [DONE]\n\n"

_PADDING = "abcdefghijklmnopqrstuvwxyz0123456789"


def event(payload: Dict[str, Any], name: Optional[str] = None) -> bytes:
    """One event; raw UTF-8, as on the wire."""
    data = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data}\n\n".encode("utf-8", "replace")


def padding(chance: random.Random) -> str:
    """The `p` of a chunk: its random length hides the length of the text beside it."""
    return _PADDING[: chance.randint(0, len(_PADDING))]
