"""A layer over the in-memory API that has requests fail by chance, from a seed."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import Callable, Counter as Counts, Dict, Iterable, Iterator, Optional

from mistral_knowledge.fake_api import ApiReply, ApiRequest, KnowledgeApi
from mistral_knowledge.fake_api.exchange import json_reply

Fault = Callable[[ApiRequest], ApiReply]


class Gone(ConnectionError):
    """The server drops the connection."""


class Faulty:
    """`api`, but a share of its replies goes wrong; `given` counts how.

    share: of all requests, 0 to 1; may be changed at any time
    """

    def __init__(self, api: KnowledgeApi, seed: int, share: float = 0.0) -> None:
        self.share = share
        self.given: Counts[str] = Counter()
        self._api = api
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._faults: Dict[str, Fault] = {
            "429": lambda request: self._refused(request, 429),
            "503": lambda request: self._refused(request, 503),
            "503 without Retry-After": lambda request: self._refused(request, 503, None),
            "dropped before": self._dropped_before,
            "dropped after": self._dropped_after,
            "cut": self._cut,
            "ended early": self._ended_early,
        }

    @property
    def base_url(self) -> str:
        """What signed URLs start with."""
        return self._api.base_url

    @base_url.setter
    def base_url(self, url: str) -> None:
        self._api.base_url = url

    def handle(self, request: ApiRequest) -> ApiReply:
        """Answer one request, or fail to."""
        fault = self._drawn()
        return self._api.handle(request) if fault is None else self._faults[fault](request)

    def _drawn(self) -> Optional[str]:
        with self._lock:
            if self._random.random() >= self.share:
                return None
            name = self._random.choice(list(self._faults))
            self.given[name] += 1
            return name

    def _refused(self, _: ApiRequest, status: int, retry_after: Optional[str] = "0") -> ApiReply:
        reply = json_reply({"object": "error", "message": "not now"}, status)
        if retry_after is not None:
            reply.headers["retry-after"] = retry_after
        return reply

    def _dropped_before(self, _: ApiRequest) -> ApiReply:
        raise Gone

    def _dropped_after(self, request: ApiRequest) -> ApiReply:
        self._api.handle(request)
        raise Gone

    def _cut(self, request: ApiRequest) -> ApiReply:
        reply = self._api.handle(request)
        reply.pieces = self._some_of(reply.pieces, reset=True)
        return reply

    def _ended_early(self, request: ApiRequest) -> ApiReply:
        """A stream that ends in good order, but without its end; others are cut."""
        reply = self._api.handle(request)
        streamed = reply.headers.get("content-type", "").startswith("text/event-stream")
        reply.pieces = self._some_of(reply.pieces, reset=not streamed)
        return reply

    def _some_of(self, pieces: Iterable[bytes], reset: bool) -> Iterator[bytes]:
        body = b"".join(pieces)
        with self._lock:
            kept = self._random.randrange(max(1, len(body) - len(b"data: [DONE]\n\n")))
        yield body[:kept]
        if reset:
            raise Gone
