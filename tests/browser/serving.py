"""The relay on a port, with a scripted Mistral behind it; or with replies written by the test."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterable, Iterator

import attr

from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.relay import relay_app
from mistral_knowledge.relay.serving import relay_server
from mistral_knowledge.transports.fake import Scripted

LIBRARY = "01234567-89ab-4cde-8f01-23456789abcd"


@attr.s(auto_attribs=True)
class Served:
    """url: of the page; fake: what the relay asks; close: end it, once."""

    url: str
    fake: FakeTransport
    close: Callable[[], None]


def relay_of(fake: FakeTransport, **options: Any) -> Any:
    client = KnowledgeClient(transport=fake, retries=0)
    return relay_app(client, libraries=LIBRARY, **options)


@contextlib.contextmanager
def served(fake: FakeTransport, app: Any) -> Iterator[Served]:
    server = relay_server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    closing = contextlib.ExitStack()
    closing.callback(server.server_close)
    closing.callback(thread.join)
    closing.callback(server.shutdown)
    with closing:
        yield Served(f"http://127.0.0.1:{server.port}/", fake, closing.close)


def scripted(*replies: Scripted) -> FakeTransport:
    return FakeTransport(script=replies)


def answering(app: Any, respond: Callable[[Any], Iterable[bytes]]) -> Any:
    """`app`, but POST requests get from `respond(start_response)` what it says."""

    def with_replies(environ: Any, start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "POST":
            return app(environ, start_response)
        environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        return respond(start_response)

    return with_replies


def with_files(app: Any, files: Any) -> Any:
    """`app`, with further files: path to (content type, bytes)."""

    def with_more(environ: Any, start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] not in files:
            return app(environ, start_response)
        kind, content = files[environ["PATH_INFO"]]
        start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(content)))])
        return [content]

    return with_more
