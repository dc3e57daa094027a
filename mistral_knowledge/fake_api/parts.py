"""What the routes of the API share."""

from __future__ import annotations

import random
import uuid
from typing import Callable, Optional

import attr

from .blobs import Blobs
from .links import Links
from .retrieval import Retrieval
from .store import Store
from .times import iso
from .web import Web

# Everything belongs to one user of one organization.
USER_ID = "00000000-0000-4000-8000-000000000001"
ORG_ID = "00000000-0000-4000-8000-000000000002"


@attr.s(auto_attribs=True, slots=True)
class Options:
    """How the API behaves where the real one leaves a choice; `KnowledgeApi` explains them."""

    polls_until_done: int = 1
    api_key: Optional[str] = attr.ib(default=None, repr=False)
    accept_stream_options: bool = True
    announced_204: bool = False
    max_upload_bytes: Optional[int] = None


@attr.s(auto_attribs=True, slots=True, eq=False)
class Parts:
    """The rooms behind the routes."""

    store: Store
    blobs: Blobs
    retrieval: Retrieval
    links: Links
    options: Options
    clock: Callable[[], float]
    randomness: random.Random
    web: Web

    def now(self) -> str:
        """The time, as libraries and documents write it."""
        return iso(self.clock())

    def chance(self) -> random.Random:
        """A generator of its own for one reply, so that threads do not share one."""
        return random.Random(self.randomness.random())


def new_id() -> str:
    """A fresh UUID."""
    return str(uuid.uuid4())
