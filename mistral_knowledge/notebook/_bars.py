"""Progress bars, where tqdm is installed; else nothing is shown. Never on stdout."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from typing import Any, Callable, Iterator, Optional

from ..models.documents import Document

OnProgress = Callable[[int, Optional[int]], object]
OnStatus = Callable[[Document], object]


@contextlib.contextmanager
def amount_bar(name: str, unit: str) -> Iterator[OnProgress]:
    """A bar for `on_progress(done, total)`; of bytes where the unit is `B`, else of things."""
    bar = _bar(desc=name, unit=unit, unit_scale=unit == "B", unit_divisor=1024)
    if bar is None:
        yield lambda done, total: None
        return

    def on_progress(done: int, total: Optional[int]) -> None:
        bar.total = total
        bar.update(done - bar.n)  # less than before where it had to begin again

    with contextlib.closing(bar):
        yield on_progress


@contextlib.contextmanager
def status_bar(name: str) -> Iterator[OnStatus]:
    """How long a document has been waited for, and its status."""
    bar = _bar(desc=name, bar_format="{desc} [{elapsed}]")
    if bar is None:
        yield lambda document: None
        return
    with contextlib.closing(bar):
        yield lambda document: bar.set_description_str(
            f"{document.name or name}: {document.status}"
        )


def _bar(**options: Any) -> Any:
    with warnings.catch_warnings():
        # It would warn that a notebook could have nicer bars.
        warnings.simplefilter("ignore")
        try:
            tqdm = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            return None
    return tqdm(**options)
