"""One streamed event of a conversation, 64 in a packet and one in a packet."""

from __future__ import annotations

from typing import List

from ..contenders import serving
from ..measuring import Effort, medians
from ..report import Line, at_least, inverse
from ..streaming import (
    conversation_at_the_floor,
    conversation_by_mistralai,
    conversation_by_us,
)
from .events import figure


def run(effort: Effort) -> List[Line]:
    """Microseconds an event."""
    events = effort.size(3_000, 100)
    with serving() as url:
        sizes = (64, 1)
        return [_line(f"{url}/conversation/{events}/{one}", events, one, effort) for one in sizes]


def _line(url: str, events: int, size: int, effort: Effort) -> Line:
    contenders = {
        "ours": figure(conversation_by_us(url), events),
        "mistralai": figure(conversation_by_mistralai(url), events),
        "floor": figure(conversation_at_the_floor(url), events),
    }
    line = Line(
        f"one conversation event, {size} a packet", "us", **medians(contenders, effort.times(7))
    )
    line.checks.append(at_least(20, inverse(line.to_mistralai), "20 times faster than mistralai"))
    return line
