"""The database behind the API: one SQLite connection, one lock, short statements."""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
import threading
import weakref
from typing import Any, Iterator, List, Optional

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS pieces (
    blob_id TEXT, number INTEGER, data BLOB, PRIMARY KEY (blob_id, number)
);
CREATE TABLE IF NOT EXISTS files (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, blob_id TEXT, bytes INTEGER,
    created_at INTEGER, filename TEXT, purpose TEXT, sample_type TEXT, source TEXT,
    num_lines INTEGER, mimetype TEXT, signature TEXT, expires_at INTEGER, visibility TEXT
);
CREATE TABLE IF NOT EXISTS libraries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, name TEXT, description TEXT,
    created_at TEXT, updated_at TEXT, owner_id TEXT, owner_type TEXT, chunk_size INTEGER
);
CREATE TABLE IF NOT EXISTS shares (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, library_id TEXT, share_with_type TEXT,
    share_with_uuid TEXT, role TEXT, org_id TEXT,
    UNIQUE (library_id, share_with_type, share_with_uuid)
);
CREATE TABLE IF NOT EXISTS documents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, library_id TEXT, blob_id TEXT, hash TEXT,
    mime_type TEXT, extension TEXT, size INTEGER, name TEXT, summary TEXT, created_at TEXT,
    last_processed_at TEXT, number_of_pages INTEGER, outcome TEXT, polls INTEGER,
    polls_needed INTEGER, tokens_processing_main_content INTEGER,
    tokens_processing_summary INTEGER, attributes TEXT, expires_at TEXT
);
CREATE INDEX IF NOT EXISTS documents_by_library ON documents (library_id, created_at);
CREATE INDEX IF NOT EXISTS documents_by_hash ON documents (library_id, hash);
CREATE TABLE IF NOT EXISTS pages (
    document_id TEXT, number INTEGER, text TEXT, PRIMARY KEY (document_id, number)
);
CREATE TABLE IF NOT EXISTS passages (
    id INTEGER PRIMARY KEY, document_id TEXT, library_id TEXT, page INTEGER, text TEXT
);
CREATE INDEX IF NOT EXISTS passages_by_document ON passages (document_id);
CREATE TABLE IF NOT EXISTS conversations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, created_at TEXT, updated_at TEXT,
    appends INTEGER, facts TEXT
);
CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id TEXT, id TEXT, entry TEXT
);
CREATE INDEX IF NOT EXISTS entries_by_conversation ON entries (conversation_id, seq);
CREATE TABLE IF NOT EXISTS agents (id TEXT PRIMARY KEY, facts TEXT);
CREATE VIRTUAL TABLE IF NOT EXISTS passage_words USING fts5 (
    words, tokenize = 'porter unicode61 remove_diacritics 2'
);
"""


class Store:
    """The database, in memory or in a file; safe to use from many threads.

    Each statement is a transaction of its own, unless it runs within `transaction()`.
    """

    def __init__(self, path: str = ":memory:") -> None:
        self._lock = threading.RLock()
        # isolation_level None: BEGIN and COMMIT are where they are written, and nowhere else.
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        # A dropped store closes its database too, so that nobody has to remember it.
        self._finalizer = weakref.finalize(self, self._connection.close)
        # It is a stand-in: after a power cut it may be made anew.
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.executescript(_SCHEMA)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All statements in the block happen, or none; other threads wait. Not nested."""
        with self._lock:
            self._connection.execute("BEGIN")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, sql: str, *values: Any) -> List[sqlite3.Row]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> Optional[sqlite3.Row]:
        """The first row of a query, or None."""
        with self._lock:
            row: Optional[sqlite3.Row] = self._connection.execute(sql, values).fetchone()
            return row

    def number(self, sql: str, *values: Any) -> int:
        """The number that a query gives; 0 for null and for no row."""
        row = self.row(sql, *values)
        return int(row[0] or 0) if row is not None else 0

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement; returns the id of the row it inserted, if it did."""
        with self._lock:
            return self._connection.execute(sql, values).lastrowid or 0

    def insert(self, table: str, **columns: Any) -> int:
        """Insert one row."""
        names = ", ".join(columns)
        marks = ", ".join("?" for _ in columns)
        return self.run(f"INSERT INTO {table} ({names}) VALUES ({marks})", *columns.values())

    def update(self, table: str, row_id: str, **columns: Any) -> None:
        """Change columns of the row with this id."""
        if columns:
            changes = ", ".join(f"{name} = ?" for name in columns)
            self.run(f"UPDATE {table} SET {changes} WHERE id = ?", *columns.values(), row_id)

    def secret(self) -> bytes:
        """A random key of this database, made once; signed URLs outlive a restart with it."""
        self.run("INSERT OR IGNORE INTO facts VALUES ('secret', ?)", secrets.token_hex(32))
        row = self.row("SELECT value FROM facts WHERE name = 'secret'")
        return bytes.fromhex(row["value"]) if row is not None else b""

    def close(self) -> None:
        """Close the database; safe to call again."""
        with self._lock:
            self._finalizer()
