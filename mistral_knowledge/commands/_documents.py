"""The files that a command was given, put into a library."""

from __future__ import annotations

from typing import List

from ..client import KnowledgeClient
from ..errors import InvalidArgumentError, ProcessingError
from ..models.documents import Document
from ..models.libraries import Library
from ..notebook._terminal import line, progress
from ._paths import Named

FEW = 10  # files that have a line each


def upload_all(client: KnowledgeClient, library: Library, files: List[Named]) -> bool:
    """Upload them and wait; whether all of them can be asked.

    Raises InvalidArgumentError where none can.
    """
    # All are processed at the same time while the last are uploaded.
    documents = [_uploaded(client, library, file) for file in files]
    usable = [
        _is_processed(client, document, name, len(files) <= FEW)
        for document, (_, name) in zip(documents, files)
    ]
    if files and not any(usable):
        raise InvalidArgumentError("none of the files could be read")
    if len(files) > FEW:
        line(f"{sum(usable)} files are ready")
    return all(usable)


def _uploaded(client: KnowledgeClient, library: Library, file: Named) -> Document:
    progress(f"{file.name}: uploading")
    return client.documents.upload(library, file.path, name=file.name)


def _is_processed(client: KnowledgeClient, document: Document, name: str, say: bool) -> bool:
    try:
        client.documents.wait(document, on_status=lambda now: progress(f"{name}: {now.status}"))
    except ProcessingError as error:
        line(f"{name}: left out, {error}")
        return False
    if say:
        line(f"{name}: {_outcome(document)}")
    return True


def _outcome(document: Document) -> str:
    return "ready" if document.created is not False else "was already there"
