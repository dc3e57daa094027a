"""`python -m mistral_knowledge fake-server`: the in-memory API on a port of this machine."""

from __future__ import annotations

import argparse
import logging
import sqlite3
import sys
import threading
from typing import Any

from ..errors import InvalidArgumentError


def add_parser(subparsers: Any) -> None:
    """Add the command and its options."""
    parser = subparsers.add_parser(
        "fake-server",
        help="serve an in-memory stand-in for Mistral's knowledge APIs",
        description="Serve an in-memory stand-in for Mistral's files, libraries, documents, "
        "chat completions and conversations, for clients in any language. It asks for no key.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", type=int, default=8765, help="default: 8765; 0 takes a free one")
    parser.add_argument("--db", default=":memory:", metavar="FILE", help="keep everything in FILE")
    parser.add_argument(
        "--allow-remote", action="store_true", help="accept a host that others can reach"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns the exit code. InvalidArgumentError, OSError if it cannot."""
    _log_to_stderr()
    try:
        return _serve(args)
    except KeyboardInterrupt:
        _say("stopped")
        return 0
    except sqlite3.Error as error:
        raise InvalidArgumentError(f"the database {args.db} cannot be used: {error}") from error
    except OverflowError as error:
        raise InvalidArgumentError(f"port {args.port} cannot be used: {error}") from error


def _serve(args: argparse.Namespace) -> int:
    from ..fake_api import KnowledgeApi
    from ..fake_api.server import serve

    remote = args.allow_remote
    with KnowledgeApi(args.db) as api, serve(api, args.host, args.port, allow_remote=remote) as on:
        _say(f"serving on {on.url} (Ctrl-C ends it)")
        _wait()
    return 0


def _wait() -> None:
    # With a timeout, so that Windows lets Ctrl-C through.
    never = threading.Event()
    while not never.wait(3600):
        pass


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("mistral_knowledge.fake_api")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
