"""An in-memory stand-in for Mistral's knowledge APIs, with real retrieval over what is uploaded.

`KnowledgeApi.handle` takes an `ApiRequest` and gives an `ApiReply`: bytes in, bytes out, no socket.
`transports.fake.FakeTransport` puts it behind the SDK; `fake_api.server.serve` puts it on a port.
"""

from __future__ import annotations

from .api import KnowledgeApi
from .exchange import ApiReply, ApiRequest

__all__ = ["ApiReply", "ApiRequest", "KnowledgeApi"]
