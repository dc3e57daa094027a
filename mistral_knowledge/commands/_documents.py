"""The files that a command was given, put into a library."""

from __future__ import annotations

import os
from typing import List

from ..client import KnowledgeClient
from ..errors import InvalidArgumentError, ProcessingError
from ..models.documents import Document
from ..models.libraries import Library
from ..notebook._terminal import line, progress


def upload_all(client: KnowledgeClient, library: Library, paths: List[str]) -> bool:
    """Upload them and wait; whether all of them can be asked.

    Raises InvalidArgumentError where none can.
    """
    # All are processed at the same time while the last are uploaded.
    documents = [_uploaded(client, library, path) for path in paths]
    usable = [_is_processed(client, one, path) for one, path in zip(documents, paths)]
    if paths and not any(usable):
        raise InvalidArgumentError("none of the files could be read")
    return all(usable)


def _uploaded(client: KnowledgeClient, library: Library, path: str) -> Document:
    progress(f"{os.path.basename(path)}: uploading")
    return client.documents.upload(library, path)


def _is_processed(client: KnowledgeClient, document: Document, path: str) -> bool:
    name = os.path.basename(path)
    try:
        client.documents.wait(document, on_status=lambda now: progress(f"{name}: {now.status}"))
    except ProcessingError as error:
        line(f"{name}: left out, {error}")
        return False
    line(f"{name}: {_outcome(document)}")
    return True


def _outcome(document: Document) -> str:
    return "ready" if document.created is not False else "was already there"
