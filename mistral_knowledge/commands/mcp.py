"""`python -m mistral_knowledge mcp`: the nine tools for an MCP host, over stdin and stdout.

Only the protocol goes to stdout; everything else goes to stderr.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from typing import Any

from ..client import KnowledgeClient
from ..errors import ConfigurationError
from ..tools import knowledge_tools
from ._clients import offline_client

OLDEST = (3, 10)


def add_parser(subparsers: Any) -> None:
    """Add the command and its options."""
    parser = subparsers.add_parser(
        "mcp",
        help="serve the knowledge tools to an MCP host",
        description="Serve the nine knowledge tools over stdin and stdout, for a host that speaks "
        "the Model Context Protocol. The key is read from MISTRAL_API_KEY at each call.",
    )
    parser.add_argument("--offline", action="store_true", help="in memory: no key, no network")
    parser.add_argument("--read-only", action="store_true", help="only tools that change nothing")
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder below which files may be uploaded; may be given several times",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until stdin ends; returns the exit code. ConfigurationError if it cannot."""
    serve_stdio = _server()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    # The thread that reads stdin cannot be interrupted: a Ctrl-C ends the process, as SIGTERM does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Without a key each call says so to the host, which shows more of it than of stderr.
    with offline_client() if arguments.offline else KnowledgeClient() as client:
        serve_stdio(knowledge_tools(client, read_only=arguments.read_only, roots=arguments.root))
    return 0


def _server() -> Any:
    if sys.version_info < OLDEST:
        raise ConfigurationError("the MCP server needs Python 3.10 or newer")
    try:
        from ..tools.mcp_server import serve_stdio
    except ImportError as error:
        raise ConfigurationError(
            f'the MCP server needs an extra: pip install "mistral-knowledge[mcp]" ({error})'
        ) from error
    return serve_stdio
