"""Faults that `FakeTransport` has happen on request, and which requests they are for."""

from __future__ import annotations

import fnmatch
import threading
from typing import Any, Callable, Iterator, List, Mapping, Optional

import attr

from ._fake_record import RecordedRequest
from ._fake_script import Scripted

Spoil = Callable[[Iterator[bytes]], Iterator[bytes]]


@attr.s(auto_attribs=True, slots=True, eq=False)
class Fault:
    """Something that happens to the next `times` matching requests.

    reply: takes the place of the reply; spoil: changes the body of the reply; events_only: waits
    for a reply that is an event stream.
    """

    method: Optional[str] = None
    path: Optional[str] = None
    times: int = 1
    reply: Optional[Scripted] = None
    spoil: Optional[Spoil] = None
    events_only: bool = False


class Faults:
    """Those that are still to happen, in the order they were asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: List[Fault] = []

    def add(self, fault: Fault) -> None:
        """Have it happen."""
        with self._lock:
            self._waiting.append(fault)

    def reply_for(self, record: RecordedRequest) -> Optional[Scripted]:
        """The reply that takes the place of the real one, if a fault wants that."""
        fault = self._take(lambda fault: fault.reply is not None and matches(fault, record))
        return fault.reply if fault is not None else None

    def spoiled(
        self, record: RecordedRequest, headers: Mapping[str, str], pieces: Iterator[bytes]
    ) -> Iterator[bytes]:
        """The body, with a fault in it if one is due."""
        streams = headers.get("content-type", "").startswith("text/event-stream")

        def fits(fault: Fault) -> bool:
            due = fault.spoil is not None and (streams or not fault.events_only)
            return due and matches(fault, record)

        fault = self._take(fits)
        return pieces if fault is None or fault.spoil is None else fault.spoil(pieces)

    def _take(self, fits: Callable[[Fault], bool]) -> Optional[Fault]:
        with self._lock:
            fault = next((fault for fault in self._waiting if fits(fault)), None)
            if fault is not None:
                fault.times -= 1
                if fault.times <= 0:
                    self._waiting.remove(fault)
            return fault


def matches(expected: Any, record: RecordedRequest) -> bool:
    """Whether a request is the one that a fault or a scripted reply is for."""
    method_fits = expected.method is None or expected.method == record.method
    path_fits = expected.path is None or fnmatch.fnmatchcase(record.path, expected.path)
    return bool(method_fits and path_fits)
