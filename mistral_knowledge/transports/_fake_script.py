"""Scripted replies for `FakeTransport`: what a network does, step by step."""

from __future__ import annotations

import json as _json
import threading
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Protocol, Sequence, Type, Union

import attr

from ..errors import ConnectionLostError
from ._fake_moment import Moment


@attr.s(auto_attribs=True, slots=True, eq=False)
class Delay:
    """Nothing comes for `seconds` on the fake clock; no real time passes."""

    seconds: float

    def run(self, moment: Moment) -> None:
        """Let the time pass."""
        moment.pass_time(self.seconds)


class Stall:
    """Nothing comes any more, until the signal aborts or the reply is closed.

    `reached` is set once a reader is blocked here, for tests that want to end it then.
    """

    def __init__(self) -> None:
        self.reached = threading.Event()

    def run(self, moment: Moment) -> None:
        """Block, and raise what ended it."""
        self.reached.set()
        moment.wait()


@attr.s(auto_attribs=True, slots=True, eq=False)
class Raise:
    """`error` is raised: in the body, or from `send` if it stands in `Scripted(before=...)`."""

    error: Union[BaseException, Type[BaseException]]

    def run(self, moment: Moment) -> None:
        """Raise it."""
        raise self.error


class Cut:
    """The connection breaks in the middle of the body, as a cut chunked body does."""

    def run(self, moment: Moment) -> None:
        """Raise what a cut connection raises."""
        raise ConnectionLostError("the connection broke in the middle of the reply")


class Happening(Protocol):
    """Anything that can stand between the pieces of a script; one can write one's own."""

    def run(self, moment: Moment) -> None:
        """Do it, in the thread that sends or reads."""
        ...


Step = Union[bytes, Happening]


@attr.s(slots=True, eq=False)
class Scripted:
    """One reply, and which request it is for.

    status, headers: of the reply
    steps: its body; each bytes object is a read of its own, the others are things that happen
    json: a body in place of steps
    before: what happens on `send`, before status and headers are in
    raises: short for `before=[Raise(error)]`
    method, path: what has to be asked; a `*` in the path stands for anything
    """

    status: int = attr.ib(default=200)
    headers: Mapping[str, str] = attr.ib(factory=dict)
    steps: Sequence[Step] = attr.ib(default=(), repr=False)
    json: Any = attr.ib(default=None, repr=False)
    method: Optional[str] = attr.ib(default=None)
    path: Optional[str] = attr.ib(default=None)
    before: Sequence[Step] = attr.ib(default=(), repr=False)
    raises: Union[BaseException, Type[BaseException], None] = attr.ib(default=None, repr=False)

    @classmethod
    def events(cls, *steps: Step, **fields: Any) -> Scripted:
        """A reply that is an event stream."""
        headers = {"content-type": "text/event-stream", **fields.pop("headers", {})}
        return cls(headers=headers, steps=list(steps), **fields)

    def on_send(self) -> List[Step]:
        """The steps before the headers."""
        return [*self.before, *([] if self.raises is None else [Raise(self.raises)])]

    def reply_headers(self) -> Mapping[str, str]:
        """The headers, with lower-case names."""
        kind = {} if self.json is None else {"content-type": "application/json"}
        return {**kind, **{name.lower(): value for name, value in self.headers.items()}}

    def body(self) -> List[Step]:
        """The steps behind the headers."""
        if self.json is None:
            return list(self.steps)
        return [_json.dumps(self.json, separators=(",", ":")).encode(), *self.steps]


def played(steps: Iterable[Step], moment: Moment) -> Iterator[bytes]:
    """The pieces that the steps bring; what else they do happens in between."""
    for step in steps:
        moment.check()
        if not isinstance(step, bytes):
            step.run(moment)
        elif step:
            moment.something_came()
            yield step
