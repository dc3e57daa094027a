"""Answers over HTTP, as R2R's streaming retrieval API puts them on the wire.

`sse(stream)` is the body of a `text/event-stream` response in any framework; `relay_app(client,
libraries=...)` is a whole WSGI application (it needs Werkzeug: the extra `relay`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

from ..errors import ConfigurationError
from .body import EventBody, sse

if TYPE_CHECKING:
    from ..client import KnowledgeClient
    from ..resources._arguments import Libraries
    from .app import RelayApp

__all__ = ["EventBody", "relay_app", "sse"]


def relay_app(
    client: KnowledgeClient,
    *,
    libraries: Libraries,
    token: Optional[str] = None,
    cors: Sequence[str] = (),
    max_streams: int = 64,
    max_request_bytes: int = 1_000_000,
    heartbeat: float = 0.8,
) -> RelayApp:
    """A WSGI application that answers from `libraries` as R2R would, and serves a page that asks.

    It asks Mistral with the client's key, so without a `token` it answers only this machine.

    client: who asks; its model is used where a request names none
    libraries: one library (object or id) or several; no others can be asked
    token: what callers must send as `Authorization: Bearer` or `x-api-key`
    cors: origins (`https://app.example`) whose pages may call it from a browser
    max_streams: how many answers may be under way at once; more get 429
    max_request_bytes: longest request body; longer ones get 413
    heartbeat: seconds of silence after which a comment is sent; a client that has gone is noticed
        at the second one

    Raises ConfigurationError without Werkzeug, InvalidArgumentError for arguments that cannot work.
    """
    need_werkzeug()
    from .app import RelayApp

    limits: Any = {"max_streams": max_streams, "max_request_bytes": max_request_bytes}
    return RelayApp(client, libraries, token, cors, heartbeat=heartbeat, **limits)


def need_werkzeug() -> None:
    """Raise ConfigurationError, which names the extra, where Werkzeug is missing."""
    try:
        import werkzeug  # noqa: F401
    except ImportError:
        raise ConfigurationError(
            'the relay needs Werkzeug: pip install "mistral-knowledge[relay]"'
        ) from None
