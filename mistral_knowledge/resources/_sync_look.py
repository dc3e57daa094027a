"""What a sync has to know of each file and document."""

from __future__ import annotations

import hashlib
from typing import Callable, FrozenSet, List, Set, Union

from ..abort import AbortSignal
from ..errors import KnowledgeError
from ..models.documents import Document
from ..models.folders import SyncStep
from ._folder import Found, refuse_what_is_no_file
from ._sync_plan import Local, Remote, algorithms_by_size, usable_hash

_BLOCK = 1 << 20


def remote_of(document: Document) -> Remote:
    """What counts of a document; the rest of it need not be kept."""
    created = document.created_at.timestamp() if document.created_at is not None else None
    return Remote(
        document.id,
        document.name,
        usable_hash(document.hash),
        document.size,
        created,
        document.is_failed,
    )


def looker(remotes: List[Remote]) -> Callable[[Found, AbortSignal], Union[Local, SyncStep]]:
    """What a worker does with a file that was found: gives a Local, or a step that failed.

    A content is read and hashed only where a document has its size: no other can be the same.
    """
    by_size = algorithms_by_size(remotes)
    of_any_size = by_size.get(None, set())

    def look(file: Found, signal: AbortSignal) -> Union[Local, SyncStep]:
        try:
            if file.problem is not None:
                raise file.problem
            found = refuse_what_is_no_file(file.path)
            algorithms = by_size.get(found.st_size, set()) | of_any_size
            hashes = _hashes(file.path, algorithms, signal)
            return Local(file.name, file.path, found.st_size, found.st_mtime, hashes)
        except (KnowledgeError, OSError) as error:
            signal.raise_if_aborted()
            return SyncStep("upload", file.name, file.path, status="failed", error=error)

    return look


def _hashes(path: str, algorithms: Set[str], signal: AbortSignal) -> FrozenSet[str]:
    if not algorithms:
        return frozenset()
    digests = [hashlib.new(name) for name in algorithms]
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(_BLOCK), b""):
            signal.raise_if_aborted()
            for digest in digests:
                digest.update(block)
    return frozenset(digest.hexdigest() for digest in digests)
