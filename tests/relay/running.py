"""A relay on a free port of this machine, for as long as a test needs it."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from typing import Any, Dict, Iterator, List, Optional, Tuple

from mistral_knowledge.relay.app import RelayApp
from mistral_knowledge.relay.serving import relay_server

PATIENCE = 10


@contextlib.contextmanager
def running(app: RelayApp) -> Iterator[int]:
    """Serves `app`; gives the port."""
    server = relay_server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port
    finally:
        app.close()
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


def post(
    port: int, path: str, body: Dict[str, Any], headers: Optional[Dict[str, str]] = None
) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """The connection and the reply, whose body is still to be read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    sent = {"Content-Type": "application/json", **(headers or {})}
    connection.request("POST", path, json.dumps(body), sent)
    return connection, connection.getresponse()


def events_in(body: bytes) -> List[Tuple[str, Any]]:
    """(name, data) of each event of an R2R body; comments are left out."""
    found = []
    for block in body.decode("ascii").split("\n\n"):
        if block and not block.startswith(":"):
            name, data = block.split("\n")
            assert name.startswith("event: ")
            assert data.startswith("data: ")
            value = data[len("data: ") :]
            found.append(
                (name[len("event: ") :], value if value == "[DONE]" else json.loads(value))
            )
    return found


def relay_threads() -> List[threading.Thread]:
    """The threads that read answers."""
    return [one for one in threading.enumerate() if one.name == "mistral_knowledge-relay"]


def wait_for_no_relay_threads() -> None:
    """Fails if one is left."""
    for thread in relay_threads():
        thread.join(PATIENCE)
    assert relay_threads() == []
