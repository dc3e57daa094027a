"""The client of a command: over the network, or offline."""

from __future__ import annotations

import os
from typing import Optional

from ..client import KnowledgeClient
from ..errors import ConfigurationError


def client_of(offline: bool, model: Optional[str] = None) -> KnowledgeClient:
    """A client over the in-memory API, or over the network. ConfigurationError without a key."""
    return offline_client(model) if offline else network_client(model)


def network_client(model: Optional[str] = None) -> KnowledgeClient:
    """A client with the settings of this machine; ConfigurationError where there is no key."""
    if not (os.environ.get("MISTRAL_API_KEY") or "").strip():
        raise ConfigurationError(
            "no API key: set the environment variable MISTRAL_API_KEY, or try it with --offline"
        )
    return KnowledgeClient(model=model)


def offline_client(model: Optional[str] = None) -> KnowledgeClient:
    """A client over the in-memory API: no key, no network, nothing is kept."""
    from ..transports.fake import FakeTransport

    return KnowledgeClient(transport=FakeTransport(), model=model)
