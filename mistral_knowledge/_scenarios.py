"""What a server does in a test of the transport contract, written down without saying how."""

from __future__ import annotations

import threading
from typing import Any, List, Mapping, Union

import attr

from ._loopback import PATIENCE, Connection, Seen, chunk, head
from .transports import Transport


class Gate:
    """A step that waits until the test opens the gate."""

    def __init__(self) -> None:
        self._opened = threading.Event()

    def open(self) -> None:
        """Let the server go on."""
        self._opened.set()

    def wait(self) -> None:
        """Block until it is open."""
        assert self._opened.wait(PATIENCE), "the test did not open the gate"


class Mark:
    """A step that is one of the words below."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


STALL = Mark("STALL")  # nothing more comes, until the call is ended from outside
SILENCE = Mark("SILENCE")  # nothing more comes, for longer than any limit of the call
CUT = Mark("CUT")  # the connection breaks in the middle of the body
REFUSED = Mark("REFUSED")  # there is no connection; the first step before the head

Step = Union[bytes, Gate, Mark]


@attr.s(auto_attribs=True, slots=True)
class Scenario:
    """One reply, and what happens on the way.

    status, headers: of the reply
    body: its steps; each bytes object is a piece of its own
    before: steps that come before status and headers
    """

    status: int = 200
    headers: Mapping[str, str] = attr.ib(factory=dict)
    body: List[Step] = attr.ib(factory=list)
    before: List[Step] = attr.ib(factory=list)


@attr.s(auto_attribs=True, slots=True)
class Stage:
    """A scenario that is being played.

    transport: to send with; url: where the server is; seen: the requests that arrived, in order
    """

    transport: Transport
    url: str
    seen: List[Seen]


def perform(scenario: Scenario, connection: Connection, seen: List[Seen]) -> None:
    """Play the scenario on a connection, for one request after the other."""
    while True:
        request = connection.request()
        if request is None:
            return
        seen.append(request)
        if not _steps(scenario.before, connection, bytes):
            return
        connection.send(_head_of(scenario))
        if not _steps(scenario.body, connection, chunk):
            return
        if _may_have_body(scenario.status):
            connection.send(chunk(b""))


def _steps(steps: List[Step], connection: Connection, framed: Any) -> bool:
    """Do the steps; returns whether the connection goes on behind them."""
    for step in steps:
        if isinstance(step, Gate):
            step.wait()
        elif isinstance(step, bytes):
            connection.send(framed(step))
        elif step is CUT:
            return False
        else:
            connection.wait_for_end()
            return False
    return True


def _head_of(scenario: Scenario) -> bytes:
    headers = dict(scenario.headers)
    if _may_have_body(scenario.status):
        headers["Transfer-Encoding"] = "chunked"
    return head(scenario.status, **headers)


def _may_have_body(status: int) -> bool:
    return status not in (204, 304)
