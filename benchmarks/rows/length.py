"""Cost over length: many events cost as much each as few, and one large event stays cheap."""

from __future__ import annotations

import json
from typing import List

from ..contenders import serving, session
from ..measuring import Effort, Figure, cpu, medians, wall
from ..report import Line, at_most, between
from ..streaming import (
    Pieces,
    chunks_at_the_floor,
    pieces_at_the_floor,
    pieces_by_mistralai,
    pieces_by_us,
)

PACKET = 64
SHORT_RUNS = 3


def run(effort: Effort) -> List[Line]:
    """How many times more ten times the events cost; seconds for one event of 8 MiB."""
    with serving() as url:
        return [_many(url, effort), _large(url, effort)]


def _many(url: str, effort: Effort) -> Line:
    events = effort.size(10_000, 100)

    def figure(by: Pieces, longer: Pieces) -> Figure:
        return lambda: cpu(lambda: _read(longer)) / _mean_cpu(by)

    def at(count: int) -> str:
        return f"{url}/events/{count}/{PACKET}"

    # The official SDK gets a tenth of the events: all of them would take it minutes each time.
    found = medians(
        {
            "ours": figure(pieces_by_us(at(events)), pieces_by_us(at(10 * events))),
            "mistralai": figure(
                pieces_by_mistralai(at(events // 10)), pieces_by_mistralai(at(events))
            ),
            "floor": figure(pieces_at_the_floor(at(events)), pieces_at_the_floor(at(10 * events))),
        },
        effort.times(5),
    )
    line = Line("100,000 events against 10,000", "times", **found)
    line.checks.append(between(8, 12, line.ours, "10 times the cost, within 20%"))
    return line


def _large(url: str, effort: Effort) -> Line:
    size = effort.size(8 * 2**20, 2**16)
    url = f"{url}/large/{size}/1024"
    http = session()

    def figure(pieces: Pieces) -> Figure:
        def read() -> None:
            assert sum(map(len, pieces())) == size

        return lambda: wall(read)

    def joined() -> List[str]:
        # sseclient-py would copy what it holds with every packet: no floor.
        first = b"".join(chunks_at_the_floor(http, url)).split(b"\n\n")[0]
        return [json.loads(first[len(b"data: ") :])["choices"][0]["delta"]["content"]]

    found = medians(
        {
            "ours": figure(pieces_by_us(url)),
            "mistralai": figure(pieces_by_mistralai(url)),
            "floor": figure(lambda: iter(joined())),
        },
        effort.times(5),
    )
    line = Line("one 8 MiB event in 1 KiB pieces", "s", **found)
    line.checks.append(at_most(0.5, line.ours, "under 0.5 s", " s"))
    return line


def _mean_cpu(pieces: Pieces) -> float:
    return cpu(lambda: [_read(pieces) for _ in range(SHORT_RUNS)]) / SHORT_RUNS


def _read(pieces: Pieces) -> None:
    for _ in pieces():
        pass
