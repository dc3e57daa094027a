"""How far many files are, on stderr: a bar where tqdm is installed, lines elsewhere."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any, Callable, Iterator, Optional

from ._showing import line, progress

OnFiles = Callable[[int, Optional[int]], object]


@contextlib.contextmanager
def counting(unit: str) -> Iterator[OnFiles]:
    """Gives an `on_progress(done, total)` that shows it."""
    bar = _bar(unit)
    if bar is None:
        yield _Lines(unit).show
        return
    with bar:
        yield lambda done, total: _move(bar, done, total)


def _bar(unit: str) -> Any:
    if not _watched():
        return None
    try:
        tqdm = importlib.import_module("tqdm")
    except ImportError:
        return None
    return tqdm.tqdm(unit=f" {unit}", file=sys.stderr)


def _move(bar: Any, done: int, total: Optional[int]) -> None:
    if bar.total != total:
        bar.total = total
    bar.update(done - bar.n)


class _Lines:
    """A line that is replaced where somebody watches; elsewhere one for each tenth."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._tenth = 0

    def show(self, done: int, total: Optional[int]) -> None:
        text = f"{done} of {total} {self._unit}" if total else f"{done} {self._unit}"
        if _watched():
            progress(text)
        elif total and done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            line(text)


def _watched() -> bool:
    return sys.stderr.isatty()
