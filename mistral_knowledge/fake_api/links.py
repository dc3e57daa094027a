"""Signed URLs: whoever holds one may fetch what it points at, for a while."""

from __future__ import annotations

import hashlib
import hmac
from typing import Callable, Dict, Tuple
from urllib.parse import urlencode

HALF_AN_HOUR = 30 * 60


class Links:
    """Makes signed URLs and checks them. `base_url` is where the API can be reached."""

    def __init__(self, key: bytes, base_url: str, clock: Callable[[], float]) -> None:
        self._key = key
        self._clock = clock
        self._lasting: Dict[Tuple[str, str], Tuple[str, int]] = {}
        self.base_url = base_url

    def make(self, kind: str, thing_id: str, seconds: int = HALF_AN_HOUR) -> str:
        """A URL for a document's `original` or `text`, or for a `file`."""
        return self._until(kind, thing_id, int(self._clock()) + seconds)

    def lasting(self, kind: str, thing_id: str) -> str:
        """A URL that stays the same as long as it has half an hour left.

        Two answers to one question cite a document by the same URL.
        """
        place = (self.base_url, thing_id)
        url, end = self._lasting.get(place, ("", 0))
        if end - self._clock() < HALF_AN_HOUR:
            end = int(self._clock()) + 2 * HALF_AN_HOUR
            url = self._until(kind, thing_id, end)
            self._lasting[place] = (url, end)
        return url

    def valid(self, kind: str, thing_id: str, expires: str, signature: str) -> bool:
        """Whether the signature is ours and its time is not over."""
        expected = self._sign(kind, thing_id, expires)
        genuine = hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))
        return genuine and float(expires) > self._clock()

    def _until(self, kind: str, thing_id: str, end: int) -> str:
        query = urlencode({"expires": end, "signature": self._sign(kind, thing_id, str(end))})
        return f"{self.base_url.rstrip('/')}/signed/{kind}/{thing_id}?{query}"

    def _sign(self, kind: str, thing_id: str, expires: str) -> str:
        words = f"{kind}/{thing_id}/{expires}".encode("utf-8", "replace")
        return hmac.new(self._key, words, hashlib.sha256).hexdigest()
