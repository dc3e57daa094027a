"""A gate before a transport that many threads share: when the server asks one to wait, all wait."""

from __future__ import annotations

import json
import time
from typing import Dict, Iterator

from .._retry import Retry
from ..errors import retry_after_of
from ..transports import Reply, Request, Transport


class GatedTransport:
    """Sends over `inner`, unless the server asked for a pause that is not over.

    A 429, or a 503 with Retry-After, shuts the gate for as long as the server says, or for the
    backoff of `retry` where it does not. A pause above `retry.cap` is not waited for: until it is
    over, every request gets the server's refusal again, without being sent.
    """

    def __init__(self, inner: Transport, retry: Retry) -> None:
        self.needs_key = inner.needs_key
        self._inner = inner
        self._retry = retry
        self._opens = 0.0
        self._refusals = 0

    def send(self, request: Request) -> Reply:
        """Wait until the gate is open, then send."""
        while True:
            pause = self._opens - time.monotonic()
            if pause > self._retry.cap:
                return _Refusal(pause)
            if pause <= 0:
                break
            _wait(request, pause)
        reply = self._inner.send(request)
        self._note(reply)
        return reply

    def close(self) -> None:
        """Nothing: the transport behind it is the client's."""

    def _note(self, reply: Reply) -> None:
        asked = retry_after_of(reply.headers, time.time())
        if reply.status == 429 or (reply.status == 503 and asked is not None):
            self._refusals += 1
            pause = self._backoff() if asked is None else asked
            self._opens = max(self._opens, time.monotonic() + pause)
        elif reply.status < 400:
            self._refusals = 0

    def _backoff(self) -> float:
        return float(min(self._retry.cap, self._retry.backoff * 2.0 ** min(self._refusals - 1, 64)))


class _Refusal:
    """The reply in place of a request that was not sent."""

    def __init__(self, pause: float) -> None:
        self.status = 429
        self.headers: Dict[str, str] = {
            "content-type": "application/json",
            "retry-after": str(pause),
        }

    def __iter__(self) -> Iterator[bytes]:
        words = "not sent: the server asked for a pause before, which is not over"
        yield json.dumps({"object": "error", "message": words}).encode()

    def close(self) -> None:
        """Nothing to close."""


def _wait(request: Request, seconds: float) -> None:
    if request.signal is None:
        time.sleep(seconds)
        return
    request.signal.wait(seconds)
    request.signal.raise_if_aborted()
