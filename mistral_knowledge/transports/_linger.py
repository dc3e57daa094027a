"""Reading what is only worth a moment: the rest of a body, the words of a refusal."""

from __future__ import annotations

from typing import Callable, Iterable, Iterator

from ..abort import Deadline
from ..errors import AbortedError, TransportError


def within(seconds: float, pieces: Iterable[bytes], close: Callable[[], None]) -> Iterator[bytes]:
    """The `pieces` that come within `seconds`; a failure, or their lateness, just ends them.

    close: closes what they are read from, from another thread.
    """
    call_off = Deadline(seconds, "the rest did not come").add_callback(close)
    try:
        # `yield from` would close them, and drop their connection, when this is left.
        for piece in pieces:  # noqa: UP028
            yield piece
    except (TransportError, AbortedError):
        return
    finally:
        call_off()
