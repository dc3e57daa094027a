"""The door to the outside: what a transport is given, what it gives back, and what it may raise.

A transport moves bytes, and nothing else. It adds no credentials of its own, follows no redirect,
never retries, and returns a reply for every HTTP status. It raises only

- `NotSentError`, `RequestTimeoutError`, `ConnectionLostError` (the children of `TransportError`),
- what `request.signal.error()` returns, once that signal is aborted,
- what the request's own body raises while it is read, as it is,
- before anything is sent, `ConfigurationError` or `InvalidArgumentError` for what cannot be sent
  (a proxy or certificate setting, a header with a line break).

Anything else that passes through (a KeyboardInterrupt, a task queue's time limit) comes out as the
same object, with the connection closed. `mistral_knowledge.testing.TransportContract` is this
contract as a test class, for anyone's transport to inherit.
"""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional, Protocol, Union

import attr

from .._secrets import Headers, redact_url
from ..abort import AbortSignal
from ..errors import InvalidArgumentError

__all__ = ["Body", "Reply", "Request", "Timeout", "Transport"]


LONGEST = 366 * 24 * 3600  # what every system's sockets and locks can wait for


def _limit(instance: Any, attribute: Any, value: Any) -> None:
    if value is None:
        return
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= LONGEST:
        raise InvalidArgumentError(
            f"timeout {attribute.name}={value!r}: give seconds above 0 (a year at most), "
            "or None for no limit"
        )


def _number(value: Any) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidArgumentError(f"timeout={value!r}: give a Timeout, seconds, or None")
    return value


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Timeout:
    """Limits of one call, in seconds; None switches a limit off.

    connect: until the connection stands, TLS included (default 10)
    write: for sending one block of an upload (60)
    first_byte: from the request being sent until status and headers are in (300)
    idle: between two pieces of the reply (120)
    total: for the whole call, with its repetitions and the reading of its reply (None)

    Where a number is accepted in place of a Timeout, it sets `total` and leaves the rest.
    """

    connect: Optional[float] = attr.ib(default=10, validator=_limit)
    write: Optional[float] = attr.ib(default=60, validator=_limit)
    first_byte: Optional[float] = attr.ib(default=300, validator=_limit)
    idle: Optional[float] = attr.ib(default=120, validator=_limit)
    total: Optional[float] = attr.ib(default=None, validator=_limit)

    @classmethod
    def of(cls, value: Union[Timeout, float, None], base: Optional[Timeout] = None) -> Timeout:
        """A Timeout from what callers may give: one of these, a number (total) or None (no limit).

        `base` is what a number leaves as it is.
        """
        if isinstance(value, cls):
            return value
        if value is None:
            return cls(None, None, None, None, None)
        return attr.evolve(base or cls(), total=_number(value))


class Body(Protocol):
    """The body of an upload.

    length: its size in bytes, or None when it is not known before it is read.
    repeatable: whether iterating again gives the same bytes again; a request whose body is not
        repeatable is never sent twice.
    """

    @property
    def length(self) -> Optional[int]:
        """Its size in bytes, or None."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether it can be read once more from its start."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """Its blocks, from the start."""
        ...


@attr.s(auto_attribs=True, slots=True, frozen=True, eq=False)
class Request:
    """One HTTP request, ready to be sent.

    headers: sent as they are; a transport adds only what HTTP itself needs (Host, Content-Length,
        Transfer-Encoding). The repr shows only the values of those that are known to be harmless.
    body: bytes, a `Body`, or None; never shown.
    timeout: the limits the transport keeps: connect, write, first_byte and idle. `total` spans
        several requests, so the caller of the transport keeps it, through `signal`.
    signal: ends the request, at any moment, from any thread.
    """

    method: str
    url: str = attr.ib(repr=redact_url)
    headers: Headers = attr.ib(factory=Headers, converter=Headers)
    body: Union[bytes, Body, None] = attr.ib(default=None, repr=False)
    timeout: Timeout = attr.ib(factory=Timeout)
    signal: Optional[AbortSignal] = None


class Reply(Protocol):
    """What came back: status and headers are in, the body is still to be read."""

    @property
    def status(self) -> int:
        """The HTTP status, whatever it is."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, with lower-case names."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """The body's pieces as they arrive, content-encoding undone; closes at its end.

        Raises `RequestTimeoutError(which="idle")` when nothing comes for `timeout.idle` seconds,
        `ConnectionLostError` when the body breaks off, and what the signal says once it is aborted.
        A body that was closed while it was read raises `AbortedError`: it never just ends.
        """
        ...

    def close(self) -> None:
        """Let go of the connection: from any thread, at any time, any number of times.

        It is handed back for the next request if the end of the body is in, or comes within 50 ms;
        else it is dropped. A thread that is blocked in reading returns at once.
        """
        ...


class Transport(Protocol):
    """Sends requests. One transport serves many threads.

    needs_key: whether requests need an API key; False only where nothing leaves the process.
    """

    @property
    def needs_key(self) -> bool:
        """Whether requests need an API key."""
        ...

    def send(self, request: Request) -> Reply:
        """Send `request`, and return when status and headers of the reply are in.

        An abort of `request.signal` also ends a `send` that still connects, writes or waits.
        """
        ...

    def close(self) -> None:
        """Let go of all idle connections; the transport is not used afterwards."""
        ...
