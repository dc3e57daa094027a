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
    usable = [_upload(client, library, path) for path in paths]
    if paths and not any(usable):
        raise InvalidArgumentError("none of the files could be read")
    return all(usable)


def _upload(client: KnowledgeClient, library: Library, path: str) -> bool:
    name = os.path.basename(path)
    progress(f"{name}: uploading")
    document = client.documents.upload(library, path)
    try:
        client.documents.wait(
            library, document, on_status=lambda now: progress(f"{name}: {now.status}")
        )
    except ProcessingError as error:
        line(f"{name}: left out, {error}")
        return False
    line(f"{name}: {_outcome(document)}")
    return True


def _outcome(document: Document) -> str:
    return "ready" if document.created is not False else "was already there"
