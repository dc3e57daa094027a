"""What was asked of a `FakeTransport`, for assertions; nothing secret is kept of it."""

from __future__ import annotations

import json
from typing import Any, Iterator, List, Optional
from urllib.parse import urlsplit

import attr

from .._secrets import Headers
from ..fake_api.multipart import (
    Event,
    MultipartError,
    MultipartParser,
    PartBegin,
    PartData,
    boundary_of,
)
from . import Request, Timeout

_LONGEST_VALUE = 64 * 1024


@attr.s(auto_attribs=True, slots=True)
class RecordedPart:
    """A part of a multipart body; `value` is the text of a plain field, None for a file."""

    name: str
    filename: Optional[str] = None
    content_type: Optional[str] = None
    size: int = 0
    value: Optional[str] = attr.ib(default=None, repr=False)


@attr.s(auto_attribs=True, slots=True, eq=False)
class RecordedRequest:
    """One request as the network would have seen it.

    headers: lower-case names, `***` for the values of those that carry credentials; the repr
        shows only what is known to be harmless
    body: its first bytes (`FakeTransport(keep_body=...)` of them); `body_size` counts all
    parts: the parts of a multipart body
    """

    method: str
    path: str
    query: str = attr.ib(default="", repr=False)
    headers: Headers = attr.ib(factory=Headers)
    timeout: Timeout = attr.ib(factory=Timeout, repr=False)
    body: bytes = attr.ib(default=b"", repr=False)
    body_size: int = 0
    parts: List[RecordedPart] = attr.ib(factory=list)
    reply: Any = attr.ib(default=None, repr=False)

    @classmethod
    def of(cls, request: Request) -> RecordedRequest:
        """The record of a request whose body is still to be read."""
        url = urlsplit(request.url)
        headers = request.headers.without_credentials()
        return cls(request.method, url.path, url.query, headers, request.timeout)

    @property
    def json(self) -> Any:
        """The body as JSON; None if it is none."""
        try:
            return json.loads(self.body.decode("utf-8"))
        except ValueError:
            return None

    @property
    def reply_closed(self) -> bool:
        """Whether its reply was closed or read to the end; True where none was given."""
        return self.reply is None or bool(self.reply.closed)


def recorded(request: Request, record: RecordedRequest, keep: int) -> Iterator[bytes]:
    """The blocks of the request's body, noted in the record as they go; ends on abort."""
    body = request.body
    blocks = [body] if isinstance(body, bytes) else body or []
    note = _Notes(record, keep)
    for block in blocks:
        if request.signal is not None:
            request.signal.raise_if_aborted()
        note.take(block)
        yield block


class _Notes:
    def __init__(self, record: RecordedRequest, keep: int) -> None:
        self._record = record
        self._keep = keep
        boundary = boundary_of(record.headers.get("content-type", ""))
        self._parser = MultipartParser(boundary) if boundary else None

    def take(self, block: bytes) -> None:
        record = self._record
        record.body_size += len(block)
        if len(record.body) < self._keep:
            record.body += block[: self._keep - len(record.body)]
        try:
            for event in self._parser.feed(block) if self._parser else []:
                self._note(event)
        except MultipartError:
            self._parser = None

    def _note(self, event: Event) -> None:
        parts = self._record.parts
        if isinstance(event, PartBegin):
            value = "" if event.filename is None else None
            parts.append(RecordedPart(event.name, event.filename, event.content_type, 0, value))
        elif isinstance(event, PartData):
            parts[-1].size += len(event.data)
            _add_value(parts[-1], event.data)


def _add_value(part: RecordedPart, data: bytes) -> None:
    if part.value is not None and len(part.value) < _LONGEST_VALUE:
        part.value += data.decode("utf-8", "replace")
