"""File contents, kept in pieces, so that no file has to be in memory as a whole."""

from __future__ import annotations

import hashlib
import uuid
from typing import Iterable, Iterator, Optional

import attr

from .problems import detail
from .store import Store

PIECE = 1 << 20


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Blob:
    """A stored content: where it is, its size in bytes and its SHA-256."""

    id: str
    size: int
    hash: str


class Blobs:
    """Contents by id."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, blocks: Iterable[bytes], limit: Optional[int] = None) -> Blob:
        """Store the blocks as they come; 413 above `limit` bytes; nothing is left if it fails."""
        blob_id = str(uuid.uuid4())
        try:
            return self._write(blob_id, blocks, limit)
        except BaseException:
            self.delete(blob_id)
            raise

    def _write(self, blob_id: str, blocks: Iterable[bytes], limit: Optional[int]) -> Blob:
        digest, size = hashlib.sha256(), 0
        for number, piece in enumerate(_pieces(blocks)):
            digest.update(piece)
            size += len(piece)
            if limit is not None and size > limit:
                raise detail(413, "Request Entity Too Large")
            self._store.insert("pieces", blob_id=blob_id, number=number, data=piece)
        return Blob(blob_id, size, digest.hexdigest())

    def read(self, blob_id: str) -> Iterator[bytes]:
        """The content, piece by piece."""
        number = 0
        while True:
            row = self._store.row(
                "SELECT data FROM pieces WHERE blob_id = ? AND number = ?", blob_id, number
            )
            if row is None:
                return
            yield row["data"]
            number += 1

    def start(self, blob_id: str) -> bytes:
        """The first piece, or nothing."""
        return next(self.read(blob_id), b"")

    def delete(self, blob_id: str) -> None:
        """Drop a content."""
        self._store.run("DELETE FROM pieces WHERE blob_id = ?", blob_id)


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    waiting = bytearray()
    for block in blocks:
        waiting += block
        if len(waiting) >= PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)
