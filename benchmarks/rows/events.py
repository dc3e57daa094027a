"""One streamed event: from the socket to typed text, 64 events in a packet and one in a packet."""

from __future__ import annotations

from typing import List

from ..contenders import has_r2r, serving
from ..measuring import Effort, Figure, cpu, medians
from ..report import Line, at_least, at_most, inverse
from ..streaming import (
    Pieces,
    pieces_at_the_floor,
    pieces_by_mistralai,
    pieces_by_r2r,
    pieces_by_us,
)
from ..wire import words


def run(effort: Effort) -> List[Line]:
    """Microseconds an event."""
    events = effort.size(3_000, 100)
    with serving() as url:
        return [_line(f"{url}/events/{events}/{size}", events, size, effort) for size in (64, 1)]


def _line(url: str, events: int, size: int, effort: Effort) -> Line:
    contenders = {
        "ours": figure(pieces_by_us(url), events),
        "mistralai": figure(pieces_by_mistralai(url), events),
        "floor": figure(pieces_at_the_floor(url), events),
    }
    if has_r2r():
        contenders["r2r"] = figure(pieces_by_r2r(url), events)
    found = medians(contenders, effort.times(7))
    line = Line(f"one streamed event, {size} a packet", "us", **found)
    line.checks += [
        at_least(20, inverse(line.to_mistralai), "20 times faster than mistralai"),
        at_most(3, line.to_floor, "at most 3 times the floor"),
    ]
    return line


def figure(pieces: Pieces, events: int) -> Figure:
    """Processor time an event; the text is checked."""
    whole = "".join(words(events))

    def read() -> None:
        assert "".join(pieces()) == whole

    return lambda: cpu(read) / events * 1e6
