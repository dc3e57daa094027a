"""JSON for the wire: plain ASCII on one line, and always JSON."""

from __future__ import annotations

import json
from typing import Any


def wire_json(value: Any) -> bytes:
    """`value` as compact ASCII JSON; numbers that JSON lacks become null.

    Escaping keeps U+2028 and its like out, which some readers of lines take for line ends.
    """
    try:
        return _dumped(value)
    except ValueError:
        return _dumped(json.loads(json.dumps(value, default=str), parse_constant=lambda _: None))
    except RecursionError:
        return _dumped({"omitted": "it nests too deep"})


def _dumped(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=str)
    return text.encode("ascii")
