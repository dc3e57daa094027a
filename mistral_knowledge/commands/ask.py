"""`python -m mistral_knowledge ask`: put files into a library, ask, see the answer stream.

The answer goes to stdout, everything else to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, List, Optional

from ..answers.events import CitationEvent, MessageEvent
from ..answers.stream import AnswerStream
from ..client import KnowledgeClient
from ..errors import ConfigurationError, InvalidArgumentError, KnowledgeError, ProcessingError
from ..models.answers import Answer
from ..models.documents import Document
from ..models.libraries import Library

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
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    paths = _paths(arguments.files)
    if not arguments.question.strip():
        raise InvalidArgumentError("the question is empty")
    if not paths and arguments.library is None:
        raise InvalidArgumentError("nothing to ask: name files, or a library with --library ID")
    with _client(arguments) as client:
        library = _library(client, arguments.library)
        try:
            usable = [_upload(client, library, path) for path in paths]
            if paths and not any(usable):
                raise InvalidArgumentError("none of the files could be read")
            _answer(client, library, arguments)
        finally:
            _leave(client, library, arguments)
    return 0 if all(usable) else 1


def _client(arguments: argparse.Namespace) -> KnowledgeClient:
    if not arguments.offline:
        if not (os.environ.get("MISTRAL_API_KEY") or "").strip():
            raise ConfigurationError(
                "no API key: set the environment variable MISTRAL_API_KEY, or try it with --offline"
            )
        return KnowledgeClient(model=arguments.model)
    from ..transports.fake import FakeTransport

    return KnowledgeClient(transport=FakeTransport(), model=arguments.model)


def _paths(given: List[str]) -> List[str]:
    """The files, and for each folder all files in it, sorted; hidden ones are left out."""
    paths: List[str] = []
    for path in given:
        paths += _files_in(path) if os.path.isdir(path) else [path]
    for path in paths:
        if not os.path.isfile(path):
            raise InvalidArgumentError(f"{path}: there is no such file")
    return paths


def _files_in(folder: str) -> List[str]:
    found: List[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(place, name) for name in sorted(names) if name[:1] != "."]
    return found


def _library(client: KnowledgeClient, library_id: Optional[str]) -> Library:
    if library_id is not None:
        return client.libraries.get(library_id)
    return client.libraries.create(LIBRARY_NAME)


def _upload(client: KnowledgeClient, library: Library, path: str) -> bool:
    """Upload and wait; whether the document can be asked."""
    name = os.path.basename(path)
    _progress(f"{name}: uploading")
    document = client.documents.upload(library, path)
    try:
        client.documents.wait(
            library, document, on_status=lambda now: _progress(f"{name}: {now.status}")
        )
    except ProcessingError as error:
        _line(f"{name}: left out, {error}")
        return False
    _line(f"{name}: {_outcome(document)}")
    return True


def _outcome(document: Document) -> str:
    return "ready" if document.created is not False else "was already there"


def _answer(client: KnowledgeClient, library: Library, arguments: argparse.Namespace) -> None:
    with client.rag.stream(arguments.question, libraries=library) as stream:
        _show(stream)
    answer = stream.answer
    assert answer is not None
    for source in answer.sources:
        print(f"[{source.index}] {source.label}")
    if answer.truncated:
        _line("the answer ran into its length limit")
    _line(_cost(answer))


def _show(stream: AnswerStream) -> None:
    for event in stream:
        if isinstance(event, MessageEvent):
            print(event.delta, end="", flush=True)
        elif isinstance(event, CitationEvent):
            print(f"[{event.citation.index}]", end="", flush=True)
    print("\n")


def _cost(answer: Answer) -> str:
    usage = answer.usage
    if usage is None:
        return "tokens: the server did not say"
    return (
        f"tokens: {usage.prompt_tokens} in, {usage.completion_tokens} out, "
        f"{usage.total_tokens} in all"
    )


def _leave(client: KnowledgeClient, library: Library, arguments: argparse.Namespace) -> None:
    if arguments.library is not None or arguments.offline:
        return
    if not arguments.delete:
        _line(f"kept the library; ask again with --library {library.id}")
        return
    try:
        client.libraries.delete(library, timeout=DELETE_SECONDS)
    except KnowledgeError as error:
        # Whatever ended the command is the news; this must not take its place.
        _line(f"the library {library.id} could not be deleted: {error}")
    else:
        _line(f"deleted the library {library.id}")


def _progress(text: str) -> None:
    """A line that the next one replaces, where somebody is watching."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _line(text: str) -> None:
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}{text}", file=sys.stderr, flush=True)
