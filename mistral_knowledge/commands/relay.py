"""`python -m mistral_knowledge relay`: R2R's streaming API and a page, over Mistral's libraries."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
from typing import Any, List

from ..client import KnowledgeClient
from ..errors import InvalidArgumentError
from ._clients import client_of
from ._documents import upload_all
from ._paths import Named, files_of

TOKEN = "MISTRAL_RELAY_TOKEN"


def add_parser(subparsers: Any) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser(
        "relay",
        help="serve R2R's streaming API and a page, over your libraries",
        description="Answer R2R clients, and a page in the browser, from libraries of Mistral's. "
        f"Callers from other machines need the token, which is best set in {TOKEN}.",
    )
    parser.add_argument(
        "--library", metavar="ID", action="append", help="a library to ask; may be repeated"
    )
    parser.add_argument(
        "--offline",
        metavar="FILE",
        nargs="+",
        help="ask these files, in memory: no key, no network",
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", type=int, default=7272, help="default: 7272; 0 takes a free one")
    parser.add_argument(
        "--token", help=f"what callers must send; others on this machine may see it, use {TOKEN}"
    )
    parser.add_argument("--model", help="which model answers")
    parser.add_argument(
        "--cors", metavar="ORIGIN", action="append", default=[], help="pages that may call it"
    )
    parser.add_argument("--max-streams", type=int, default=64, help="answers at once (64)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns the exit code."""
    _log_to_stderr()
    if arguments.offline and arguments.library:
        raise InvalidArgumentError("give --offline FILE or --library ID, not both")
    if not (arguments.offline or arguments.library):
        raise InvalidArgumentError("nothing to ask: give --library ID, or --offline FILE")
    with client_of(bool(arguments.offline), arguments.model) as client:
        return _serve(client, arguments)


def _serve(client: KnowledgeClient, arguments: argparse.Namespace) -> int:
    from ..relay import need_werkzeug, relay_app

    need_werkzeug()
    token = os.environ.get(TOKEN) if arguments.token is None else arguments.token
    app = relay_app(
        client,
        libraries=arguments.library or _uploaded(client, files_of(arguments.offline)),
        token=token,
        cors=arguments.cors,
        max_streams=arguments.max_streams,
    )
    from ..relay.serving import relay_server

    with relay_server(app, arguments.host, arguments.port, has_token=token is not None) as server:
        host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
        with contextlib.closing(app), contextlib.suppress(KeyboardInterrupt):
            _say(f"serving on http://{host}:{server.server_port} (Ctrl-C ends it)")
            server.serve_forever(poll_interval=0.2)
    _say("stopped")
    return 0


def _uploaded(client: KnowledgeClient, files: List[Named]) -> Any:
    if not files:
        raise InvalidArgumentError("nothing to ask: the folders hold no file")
    library = client.libraries.create("relay")
    upload_all(client, library, files)
    return library


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("mistral_knowledge.relay")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
