"""Which conversations a caller may continue: those that this relay began, over these libraries.

The key can read every conversation of its workspace; the relay's callers cannot. What they get is
the id with a seal that only the relay can make, so that several processes need share no memory.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import Optional, Sequence

from .problems import Problem

_LENGTH = 32


class Conversations:
    """Seals ids and opens them again.

    secret: of the relay; without one, ids hold as long as this process
    """

    def __init__(self, secret: Optional[str], libraries: Sequence[str]) -> None:
        key = secret.encode("utf-8") if secret else os.urandom(32)
        self._key = hashlib.sha256(b"conversations\0" + key).digest()
        self._libraries = "\0".join(sorted(libraries))

    def sealed(self, conversation_id: Optional[str]) -> Optional[str]:
        """What a caller gets in place of the id."""
        return conversation_id and f"{conversation_id}.{self._seal(conversation_id)}"

    def opened(self, sealed: str) -> str:
        """The id; Problem 404 for one that this relay did not give out."""
        conversation_id, _, seal = sealed.rpartition(".")
        expected = self._seal(conversation_id).encode("ascii")
        if not hmac.compare_digest(seal.encode("utf-8", "replace"), expected):
            raise Problem(404, "no such conversation of this relay", "NotFoundError")
        return conversation_id

    def _seal(self, conversation_id: str) -> str:
        message = f"{conversation_id}\0{self._libraries}".encode("utf-8", "replace")
        return hmac.new(self._key, message, "sha256").hexdigest()[:_LENGTH]
