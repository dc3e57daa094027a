"""The client of a command: over the network, or offline."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import ContextManager, Iterator, Optional

from ..client import KnowledgeClient
from ..errors import ConfigurationError, InvalidArgumentError


def client_of(offline: bool, model: Optional[str] = None) -> ContextManager[KnowledgeClient]:
    """A client over the in-memory API, or over the network. ConfigurationError without a key."""
    return offline_client(model) if offline else network_client(model)


def network_client(model: Optional[str] = None) -> KnowledgeClient:
    """A client with the settings of this machine; ConfigurationError where there is no key."""
    if not (os.environ.get("MISTRAL_API_KEY") or "").strip():
        raise ConfigurationError(
            "no API key: set the environment variable MISTRAL_API_KEY, or try it with --offline"
        )
    return KnowledgeClient(model=model)


@contextlib.contextmanager
def offline_client(
    model: Optional[str] = None, database: str = ":memory:"
) -> Iterator[KnowledgeClient]:
    """A client over the in-memory API, which keeps what it holds in `database`: no key, no network.

    Raises InvalidArgumentError for a database that cannot be used.
    """
    from ..fake_api import KnowledgeApi
    from ..transports.fake import FakeTransport

    try:
        # Somebody waits at the terminal: documents are processed at once.
        with KnowledgeApi(database, polls_until_done=0) as api:
            yield KnowledgeClient(transport=FakeTransport(api, keep_body=0), model=model)
    except sqlite3.Error as error:
        raise InvalidArgumentError(f"the database {database} cannot be used: {error}") from error
