"""Uploads: a multipart body whose file goes to the database while it comes in."""

from __future__ import annotations

import contextlib
import re
from typing import Dict, Iterator, Optional

import attr

from .blobs import Blob
from .call import Call
from .multipart import Event, MultipartError, PartBegin, PartData, PartEnd, boundary_of, parse
from .parts import Parts
from .problems import detail, invalid, issue, missing

_LONGEST_FIELD = 64 * 1024


@attr.s(auto_attribs=True, slots=True)
class Form:
    """The fields of an upload, and its file."""

    filename: str = ""
    content_type: str = ""
    blob: Blob = attr.ib(factory=lambda: Blob("", 0, ""))
    fields: Dict[str, str] = attr.ib(factory=dict, repr=False)


@contextlib.contextmanager
def uploaded(parts: Parts, call: Call) -> Iterator[Form]:
    """The form of an upload; its content is dropped again if the block raises."""
    form = Form()
    try:
        _read(parts, call, form)
        if not form.blob.id:
            raise invalid([missing("body", "file")])
        yield form
    except MultipartError:
        parts.blobs.delete(form.blob.id)
        raise detail(400, "There was an error parsing the body") from None
    except BaseException:
        parts.blobs.delete(form.blob.id)
        raise


def _read(parts: Parts, call: Call, form: Form) -> None:
    boundary = boundary_of(call.request.headers.get("content-type", ""))
    if boundary is None:
        return
    events = parse(call.request.blocks(), boundary)
    for event in events:
        if isinstance(event, PartBegin):
            _read_part(parts, event, events, form)


def _read_part(parts: Parts, part: PartBegin, events: Iterator[Event], form: Form) -> None:
    if part.name != "file":
        form.fields[part.name] = _field(events)
    elif part.filename is not None:
        parts.blobs.delete(form.blob.id)
        form.blob = parts.blobs.write(_content(events), parts.options.max_upload_bytes)
        form.filename = part.filename
        form.content_type = part.content_type or ""


def _content(events: Iterator[Event]) -> Iterator[bytes]:
    for event in events:
        if isinstance(event, PartEnd):
            return
        if isinstance(event, PartData):
            yield event.data


def _field(events: Iterator[Event]) -> str:
    value = bytearray()
    for data in _content(events):
        value += data
        if len(value) > _LONGEST_FIELD:
            raise detail(413, "Request Entity Too Large")
    return value.decode("utf-8", "replace")


def optional_int(form: Form, name: str) -> Optional[int]:
    """A field that is an integer, if it was given."""
    value = form.fields.get(name, "")
    if not value or re.fullmatch(r"[+-]?[0-9]{1,9}", value):
        return int(value) if value else None
    words = "Input should be a valid integer"
    raise invalid([issue(["body", name], "int_parsing", words, value)])
