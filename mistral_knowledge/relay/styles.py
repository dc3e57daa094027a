"""The two ways in which events are written: R2R's own, and envelopes for a page's script."""

from __future__ import annotations

from typing import Any, Callable, Dict

import attr

from ..errors import InvalidArgumentError
from ._json import wire_json

# A comment: every reader of event streams leaves it out, and it is no chunk that begins with
# `data: ` for those that cut at blank lines.
HEARTBEAT = b": \n\n"


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Style:
    """How events are written.

    frame: (name, data) -> the bytes of one event, one write
    end: what follows the last event
    error_prefix: what stands before the words of an error
    """

    frame: Callable[[str, Any], bytes]
    end: bytes
    error_prefix: str


def _r2r(name: str, data: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode("ascii"), wire_json(data))


def _envelope(name: str, data: Any) -> bytes:
    return b"data: %s\n\n" % wire_json({"event": name, "data": data})


STYLES: Dict[str, Style] = {
    "r2r": Style(_r2r, b"event: done\ndata: [DONE]\n\n", "Agent error: "),
    "envelope": Style(_envelope, b"", ""),
}


def style_named(name: str) -> Style:
    """The style of that name; InvalidArgumentError for another one."""
    if name not in STYLES:
        raise InvalidArgumentError(f"style={name!r}: give 'r2r' or 'envelope'")
    return STYLES[name]
