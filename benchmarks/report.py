"""What a row found, and how it is shown: one table for people, JSON for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence

HEADINGS = (
    "what",
    "unit",
    "ours",
    "mistralai",
    "r2r",
    "floor",
    "ours/mistralai",
    "ours/r2r",
    "ours/floor",
    "must reach",
    "reached",
    "met",
)


@dataclass
class Check:
    """One requirement: what must be reached, what was, and whether that will do."""

    must_reach: str
    reached: str
    met: bool


@dataclass
class Line:
    """One measured thing; the figures are medians in `unit`, None where it was not measured."""

    what: str
    unit: str = ""
    ours: Optional[float] = None
    mistralai: Optional[float] = None
    floor: Optional[float] = None
    checks: List[Check] = field(default_factory=list)
    r2r: Optional[float] = None

    @property
    def to_mistralai(self) -> Optional[float]:
        """Ours as a multiple of the official SDK's."""
        return _ratio(self.ours, self.mistralai)

    @property
    def to_r2r(self) -> Optional[float]:
        """Ours as a multiple of the one of R2R's client."""
        return _ratio(self.ours, self.r2r)

    @property
    def to_floor(self) -> Optional[float]:
        """Ours as a multiple of the floor's."""
        return _ratio(self.ours, self.floor)


@dataclass
class Row:
    """One row of the requirements: its lines, or how it broke; `seconds` is what it took."""

    name: str
    lines: List[Line]
    seconds: float
    failure: str = ""

    @property
    def met(self) -> bool:
        """Whether it ran and every requirement in it is met."""
        return not self.failure and all(check.met for line in self.lines for check in line.checks)


def at_most(limit: float, figure: Optional[float], words: str, unit: str = "x") -> Check:
    """The requirement that `figure` is at most `limit`."""
    return _check(words, figure, unit, lambda value: value <= limit)


def at_least(limit: float, figure: Optional[float], words: str, unit: str = "x") -> Check:
    """The requirement that `figure` is at least `limit`."""
    return _check(words, figure, unit, lambda value: value >= limit)


def between(low: float, high: float, figure: Optional[float], words: str) -> Check:
    """The requirement that `figure` is from `low` to `high`."""
    return _check(words, figure, "x", lambda value: low <= value <= high)


def inverse(ratio: Optional[float]) -> Optional[float]:
    """How many times faster something with this `ratio` of costs is."""
    return _ratio(1.0, ratio)


def table(rows: Sequence[Row], judged: bool = True) -> str:
    """All rows as one table of text; without `judged` nothing is said to be met or not."""
    cells = [list(HEADINGS)]
    for row in rows:
        for line in row.lines:
            cells += _cells(line, judged)
        if row.failure:
            cells.append([row.name, *[""] * (len(HEADINGS) - 2), "FAILED"])
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS))]
    ruled = [cells[0], ["-" * width for width in widths], *cells[1:]]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in ruled
    )


def as_json(rows: Sequence[Row]) -> List[Dict[str, Any]]:
    """All rows as JSON values, with the ratios."""
    return [{**asdict(row), "met": row.met, "lines": list(map(_line, row.lines))} for row in rows]


def row_from_json(found: Dict[str, Any]) -> Row:
    """A Row from what `as_json` made of it."""
    return Row(found["name"], list(map(_line_from_json, found["lines"])), found["seconds"])


def _line(line: Line) -> Dict[str, Any]:
    ratios = {
        "ours/mistralai": line.to_mistralai,
        "ours/r2r": line.to_r2r,
        "ours/floor": line.to_floor,
    }
    return {**asdict(line), **ratios}


def _line_from_json(found: Dict[str, Any]) -> Line:
    figures = (found[name] for name in ("what", "unit", "ours", "mistralai", "floor"))
    checks = [Check(**check) for check in found["checks"]]
    return Line(*figures, checks=checks, r2r=found["r2r"])


def _check(
    words: str, figure: Optional[float], unit: str, passes: Callable[[float], bool]
) -> Check:
    if figure is None:
        return Check(words, "not measured", False)
    return Check(words, f"{_number(figure)}{unit}", passes(figure))


def _cells(line: Line, judged: bool) -> List[List[str]]:
    figures = [_number(value) for value in (line.ours, line.mistralai, line.r2r, line.floor)]
    ratios = [_number(value) for value in (line.to_mistralai, line.to_r2r, line.to_floor)]
    start = [line.what, line.unit, *figures, *ratios]
    if not line.checks:
        return [[*start, "", "", ""]]
    verdict = {True: "yes", False: "NO"} if judged else {True: "-", False: "-"}
    checks = [[one.must_reach, one.reached, verdict[one.met]] for one in line.checks]
    blank = [""] * len(start)
    return [(blank if number else start) + check for number, check in enumerate(checks)]


def _ratio(value: Optional[float], other: Optional[float]) -> Optional[float]:
    return None if value is None or not other else value / other


def _number(value: Optional[float]) -> str:
    """Three digits that count: more would pretend to a precision that a median does not have."""
    if value is None:
        return "-"
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{decimals}f}"
