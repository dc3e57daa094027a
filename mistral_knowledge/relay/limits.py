"""How much may be sent, and how many answers may be under way at once."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict, List, Set

from werkzeug.exceptions import ClientDisconnected
from werkzeug.wrappers import Request

from .._json import read_json
from ..errors import AbortedError
from .problems import RETRY_AFTER, Problem, invalid
from .pump import Pump

_BLOCK = 64 * 1024
_PATIENCE = 1.0


def json_of(request: Request, most: int) -> Dict[str, Any]:
    """The JSON object in the body; Problem 415, 413 or 422 for anything else."""
    # Forms of other sites can be sent without asking; JSON cannot.
    if request.mimetype != "application/json":
        raise Problem(415, "send JSON, as Content-Type: application/json", "InvalidRequestError")
    try:
        value = read_json(_body_of(request, most))
    except ValueError:
        raise invalid("the body is no JSON") from None
    if not isinstance(value, dict):
        raise invalid("the body is no JSON object")
    return value


def _body_of(request: Request, most: int) -> bytes:
    too_large = Problem(413, f"the body is longer than {most} bytes", "TooLargeError")
    if (request.content_length or 0) > most:
        raise too_large
    blocks: List[bytes] = []
    left = most
    # What is sent in chunks has no length beforehand.
    while left >= 0:
        block = _block_of(request, min(_BLOCK, left + 1))
        if not block:
            return b"".join(blocks)
        blocks.append(block)
        left -= len(block)
    raise too_large


def _block_of(request: Request, most: int) -> bytes:
    try:
        return request.stream.read(most)
    except (ClientDisconnected, OSError):
        # It ended too soon, took too long, or was cut into chunks that are none.
        raise Problem(400, "the body did not come whole", "InvalidRequestError") from None


class Places:
    """The answers under way: so many at once, and no more."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pumps: Set[Pump] = set()
        self._lock = threading.Lock()

    def start(self, pump: Pump) -> None:
        """Start a pump; Problem 429 where there is no place for one more."""
        with self._lock:
            if len(self._pumps) >= self._most:
                raise _too_many(self._most)
            self._pumps.add(pump)
        try:
            pump.start()
        except RuntimeError:
            # The system has no thread to give.
            self.ended(pump)
            raise _too_many(self._most) from None

    def ended(self, pump: Pump) -> None:
        """Its thread ends; its place is free."""
        with self._lock:
            self._pumps.discard(pump)

    def stop_all(self) -> None:
        """End every answer under way; who waits for one is told."""
        with self._lock:
            pumps = list(self._pumps)
        for pump in pumps:
            pump.stop(AbortedError("the relay is closing", "closing"))
        until = time.monotonic() + _PATIENCE
        for pump in pumps:
            pump.thread.join(max(0.0, until - time.monotonic()))


def _too_many(most: int) -> Problem:
    return Problem(
        429,
        f"as many answers are under way as this relay allows, at most {most}: try again soon",
        "RateLimitError",
        {"Retry-After": str(RETRY_AFTER)},
    )
