"""Reading multipart/form-data as it arrives: feed it blocks, it says what is in them."""

from __future__ import annotations

import re
from email.message import Message
from typing import Dict, Iterable, Iterator, List, Optional, Union

import attr

_NAME = re.compile(r'(?:^|;)\s*name="((?:\\["\\]|[^"])*)"', re.IGNORECASE)
_FILENAME = re.compile(r'(?:^|;)\s*filename="((?:\\["\\]|[^"])*)"', re.IGNORECASE)
_LONGEST_HEADERS = 16 * 1024


class MultipartError(ValueError):
    """The body is not what its content type says."""


@attr.s(auto_attribs=True, slots=True, frozen=True)
class PartBegin:
    """A part starts; `filename` is None for a plain field."""

    name: str
    filename: Optional[str]
    content_type: Optional[str]


@attr.s(auto_attribs=True, slots=True, frozen=True)
class PartData:
    """A block of the current part's content."""

    data: bytes = attr.ib(repr=False)


@attr.s(auto_attribs=True, slots=True, frozen=True)
class PartEnd:
    """The current part is over."""


Event = Union[PartBegin, PartData, PartEnd]


def boundary_of(content_type: str) -> Optional[str]:
    """The boundary in a `multipart/form-data` content type; None if it is something else."""
    header = Message()
    header["content-type"] = content_type
    if header.get_content_type() != "multipart/form-data":
        return None
    return header.get_boundary()


class MultipartParser:
    """Push parser: holds back only what could be the start of a boundary."""

    def __init__(self, boundary: str) -> None:
        self._mark = b"\r\n--" + boundary.encode("utf-8")
        # The first boundary has no line end before it; with this one it looks like the others.
        self._held = b"\r\n"
        self._state = self._preamble
        self.done = False

    def feed(self, block: bytes) -> List[Event]:
        """What the next block brings."""
        self._held += block
        events: List[Event] = []
        while not self.done and self._state(events):
            pass
        return events

    def _preamble(self, events: List[Event]) -> bool:
        at = self._held.find(self._mark)
        if at < 0:
            self._held = self._held[-len(self._mark) :]
            return False
        self._held = self._held[at + len(self._mark) :]
        self._state = self._after_mark
        return True

    def _after_mark(self, events: List[Event]) -> bool:
        if len(self._held) < 2:
            return False
        if self._held.startswith(b"--"):
            self.done = True
        elif not self._held.startswith(b"\r\n"):
            raise MultipartError("a boundary is not followed by a line end")
        self._state = self._headers
        return True

    def _headers(self, events: List[Event]) -> bool:
        at = self._held.find(b"\r\n\r\n")
        if at < 0:
            if len(self._held) > _LONGEST_HEADERS:
                raise MultipartError("the headers of a part do not end")
            return False
        events.append(_begin(self._held[:at]))
        self._held = self._held[at + 4 :]
        # An empty part's boundary follows at once; its line end was the headers' own.
        self._state = self._content
        return True

    def _content(self, events: List[Event]) -> bool:
        at = self._held.find(self._mark)
        safe = at if at >= 0 else len(self._held) - len(self._mark) + 1
        if safe > 0:
            events.append(PartData(self._held[:safe]))
            self._held = self._held[safe:]
        if at < 0:
            return False
        events.append(PartEnd())
        self._held = self._held[len(self._mark) :]
        self._state = self._after_mark
        return True


def parse(blocks: Iterable[bytes], boundary: str) -> Iterator[Event]:
    """The events of a whole body; MultipartError if it ends before its last boundary."""
    parser = MultipartParser(boundary)
    for block in blocks:
        yield from parser.feed(block)
    if not parser.done:
        raise MultipartError("the body ends before its last boundary")


def _begin(block: bytes) -> PartBegin:
    headers: Dict[str, str] = {}
    for line in block.decode("utf-8", "replace").split("\r\n"):
        key, _, value = line.partition(":")
        headers[key.strip().lower()] = value.strip()
    disposition = headers.get("content-disposition", "")
    name = _quoted(_NAME, disposition)
    if name is None:
        raise MultipartError("a part has no name")
    return PartBegin(name, _quoted(_FILENAME, disposition), headers.get("content-type"))


def _quoted(pattern: re.Pattern[str], disposition: str) -> Optional[str]:
    match = pattern.search(disposition)
    if match is None:
        return None
    plain = re.sub(r'\\(["\\])', r"\1", match.group(1))
    return plain.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
