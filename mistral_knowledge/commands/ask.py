"""`python -m mistral_knowledge ask`: put files into a library, ask, see the answer stream.

The answer goes to stdout, everything else to stderr.
"""

from __future__ import annotations

import argparse
from typing import Any, List, Optional

from ..answers.stream import AnswerStream
from ..client import KnowledgeClient
from ..errors import InvalidArgumentError, KnowledgeError
from ..models.libraries import Library
from ..notebook._terminal import line, show_answer
from ._clients import client_of
from ._documents import upload_all
from ._paths import Named, files_of

LIBRARY_NAME = "mistral_knowledge ask"
DELETE_SECONDS = 10


def add_parser(subparsers: Any) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser(
        "ask",
        help="ask a question of your own documents",
        description="Upload the files into a library (or use one that is there), ask, and stream "
        "the answer with its sources. Without --library a library is made, and kept.",
    )
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument("files", metavar="FILE", nargs="*", help="documents, or folders of them")
    parser.add_argument("--library", metavar="ID", help="ask (and upload into) this library")
    parser.add_argument("--delete", action="store_true", help="delete the library that was made")
    parser.add_argument("--offline", action="store_true", help="in memory: no key, no network")
    parser.add_argument("--model", help="which model answers")
    parser.add_argument("--agent", action="store_true", help="show its thinking and tool calls")
    parser.add_argument("--web-search", action="store_true", help="search the web too (--agent)")
    parser.add_argument("--research", action="store_true", help="think and search more (--agent)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    files = files_of(arguments.files)
    if not arguments.question.strip():
        raise InvalidArgumentError("the question is empty")
    on_the_web = arguments.web_search or arguments.research
    arguments.agent = arguments.agent or on_the_web
    if not (files or arguments.library or on_the_web):
        raise InvalidArgumentError("nothing to ask: name files, or a library with --library ID")
    with client_of(arguments.offline, arguments.model) as client:
        library = _library(client, arguments.library, files)
        try:
            return _ask(client, library, files, arguments)
        finally:
            _leave(client, library, arguments)


def _ask(
    client: KnowledgeClient,
    library: Optional[Library],
    files: List[Named],
    arguments: argparse.Namespace,
) -> int:
    all_usable = library is None or upload_all(client, library, files)
    show_answer(_asked(client, library, arguments))
    return 0 if all_usable else 1


def _library(
    client: KnowledgeClient, library_id: Optional[str], files: List[Named]
) -> Optional[Library]:
    if library_id is not None:
        return client.libraries.get(library_id)
    return client.libraries.create(LIBRARY_NAME) if files else None


def _asked(
    client: KnowledgeClient, library: Optional[Library], arguments: argparse.Namespace
) -> AnswerStream:
    if not arguments.agent:
        assert library is not None
        return client.rag.stream(arguments.question, libraries=library)
    return client.rag.agent.stream(
        arguments.question,
        libraries=library,
        # Research brings a web search of its own, a better one.
        web_search=True if arguments.web_search and not arguments.research else None,
        mode="research" if arguments.research else "rag",
    )


def _leave(
    client: KnowledgeClient, library: Optional[Library], arguments: argparse.Namespace
) -> None:
    if library is None or arguments.library is not None or arguments.offline:
        return
    if not arguments.delete:
        line(f"kept the library; ask again with --library {library.id}")
        return
    try:
        client.libraries.delete(library, timeout=DELETE_SECONDS)
    except KnowledgeError as error:
        # Whatever ended the command is the news; this must not take its place.
        line(f"the library {library.id} could not be deleted: {error}")
    else:
        line(f"deleted the library {library.id}")
