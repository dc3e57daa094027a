"""`progress=True`: a bar beside the caller's own function."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, ContextManager, Iterator, Optional

from .._checks import switches

OnProgress = Callable[[int, Optional[int]], object]


def with_bar(
    progress: bool, name: str, unit: str, on_progress: Optional[OnProgress]
) -> ContextManager[Optional[OnProgress]]:
    """Gives what is to be told of `done` and `total`: the caller's function, a bar, or both."""
    if not switches(progress=progress).get("progress"):
        return contextlib.nullcontext(on_progress)
    from ..notebook._bars import amount_bar

    return _both(amount_bar(name, unit), on_progress)


def with_status(
    progress: bool, name: str, on_status: Optional[Callable[[Any], object]]
) -> ContextManager[Optional[Callable[[Any], object]]]:
    """The same for the status of a document."""
    if not switches(progress=progress).get("progress"):
        return contextlib.nullcontext(on_status)
    from ..notebook._bars import status_bar

    return _both(status_bar(name), on_status)


@contextlib.contextmanager
def _both(
    bar: ContextManager[Callable[..., object]], told: Optional[Callable[..., object]]
) -> Iterator[Callable[..., object]]:
    with bar as show:

        def tell(*news: Any) -> None:
            show(*news)
            if told is not None:
                told(*news)

        yield tell
