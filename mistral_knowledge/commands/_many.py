"""How far many files are, on stderr: a bar where tqdm is installed, lines elsewhere."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any, Callable, Iterator, Optional, Union

from ..notebook._terminal import line, progress

OnFiles = Callable[[int, Optional[int]], object]


@contextlib.contextmanager
def counting(unit: str) -> Iterator[OnFiles]:
    """Gives an `on_progress(done, total)` that shows it; a Ctrl-C is told how far it came."""
    bar = _bar(unit)
    shown: Union[_Lines, _Bar] = _Lines(unit) if bar is None else _Bar(bar)
    far = ""

    def on_progress(done: int, total: Optional[int]) -> None:
        nonlocal far
        far = _far(done, total, unit)
        shown.show(done, total)

    try:
        yield on_progress
    except KeyboardInterrupt:
        line(f"{far or f'no {unit}'} done; run it again for the rest")
        raise
    finally:
        if bar is not None:
            bar.close()


def _far(done: int, total: Optional[int], unit: str) -> str:
    return f"{done} of {total} {unit}" if total else f"{done} {unit}"


def _bar(unit: str) -> Any:
    if not _watched():
        return None
    try:
        tqdm = importlib.import_module("tqdm")
    except ImportError:
        return None
    return tqdm.tqdm(unit=f" {unit}", file=sys.stderr)


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, done: int, total: Optional[int]) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)


class _Lines:
    """A line that is replaced where somebody watches; elsewhere one for each tenth."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._tenth = 0

    def show(self, done: int, total: Optional[int]) -> None:
        text = _far(done, total, self._unit)
        if _watched():
            progress(text)
        elif total and done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            line(text)


def _watched() -> bool:
    return sys.stderr.isatty()
