"""The client of a command: over the network, or offline."""

from __future__ import annotations

from typing import Optional

from ..client import KnowledgeClient


def client_of(offline: bool, model: Optional[str] = None) -> KnowledgeClient:
    """A client with the settings of this machine, or one over the in-memory API."""
    if not offline:
        return KnowledgeClient(model=model)
    from ..transports.fake import FakeTransport

    return KnowledgeClient(transport=FakeTransport(), model=model)
