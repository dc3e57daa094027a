"""What the tests of the transport contract work with: scenarios for a server, and tools."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Iterator, List, Mapping, Optional, Type, Union

import attr

from ._loopback import PATIENCE, Connection, Seen, chunk, head
from .transports import Timeout, Transport

QUICKLY = 2.0  # seconds in which a call that was ended must be over; it takes milliseconds
SHORT = Timeout(connect=5, write=5, first_byte=0.2, idle=0.2)
LONG = Timeout(connect=30, write=30, first_byte=30, idle=30)


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


class Blocks:
    """A request body in blocks; `iterations` counts how often it was read."""

    def __init__(
        self, *blocks: bytes, known: bool = True, error: Optional[BaseException] = None
    ) -> None:
        self._blocks = blocks
        self._error = error
        self.length = sum(map(len, blocks)) if known else None
        self.repeatable = True
        self.iterations = 0

    def __iter__(self) -> Iterator[bytes]:
        self.iterations += 1
        yield from self._blocks
        if self._error is not None:
            raise self._error


class SoftTimeLimitExceeded(Exception):
    """Stands for what a task queue raises in the middle of anything."""


class Outcome:
    """What a function that runs in a thread of its own returned or raised."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.value: Any = None
        self.error: Optional[BaseException] = None
        self._function = function
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.value = self._function()
        except BaseException as error:  # noqa: BLE001 - it is looked at in the other thread
            self.error = error

    def join(self) -> None:
        """Wait until it is over, which must be soon."""
        self._thread.join(QUICKLY)
        assert not self._thread.is_alive(), "the call goes on although it was ended"

    def raised(self, kind: Type[BaseException]) -> Any:
        """The error it ended with, soon; AssertionError if it is of another kind."""
        self.join()
        assert isinstance(self.error, kind), f"{kind.__name__} expected: {self.error!r}"
        return self.error


def raised(kind: Type[BaseException], function: Callable[[], Any]) -> Any:
    """The error of the given kind that `function` raises."""
    try:
        value = function()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised; it returned {value!r}")


def pause() -> None:
    """Give a thread time to get to where it blocks; nothing depends on it getting there."""
    time.sleep(0.05)


def until(reached: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)
