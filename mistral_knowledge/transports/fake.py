"""A transport that needs no network: an in-memory API, scripted replies, faults, and a record.

    fake = FakeTransport()                       # answers by real retrieval over what is uploaded
    fake.fail_next(429, headers={"retry-after": "0"}, times=2)
    client = KnowledgeClient(transport=fake)
    ...
    assert [request.path for request in fake.requests] == [...]

It does what networks do: each piece is a read of its own, a delay can run into a limit, a stall
lasts until somebody ends it, a body can break off. What was not expected fails the test with an
AssertionError, which no retry policy catches.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Deque, Iterable, Iterator, List, Mapping, Optional

from ..errors import NotSentError
from ..fake_api import ApiRequest, KnowledgeApi
from . import Reply, Request
from ._fake_faults import matches
from ._fake_moment import FakeClock, Moment
from ._fake_on_request import FaultsOnRequest
from ._fake_record import RecordedPart, RecordedRequest, recorded
from ._fake_reply import FakeReply
from ._fake_script import Cut, Delay, Happening, Raise, Scripted, Stall, Step, played

__all__ = [
    "Cut",
    "Delay",
    "FakeClock",
    "FakeTransport",
    "Happening",
    "Moment",
    "Raise",
    "RecordedPart",
    "RecordedRequest",
    "Scripted",
    "Stall",
    "Step",
]


class FakeTransport(FaultsOnRequest):
    """A `Transport` for tests, demos and work without a key.

    api: the in-memory API that answers (default: a fresh one, closed with the transport)
    script: the replies to give, in order; then nothing else is answered
    keep_body: how many bytes of each request's body `requests` keeps

    `requests` is what was asked, in order; `clock` is the clock of scripted delays.
    """

    needs_key = False

    def __init__(
        self,
        api: Optional[KnowledgeApi] = None,
        *,
        script: Optional[Iterable[Scripted]] = None,
        keep_body: int = 1 << 20,
    ) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.requests: List[RecordedRequest] = []
        self._api = api
        self._owns_api = api is None
        self._strict = script is not None
        self._script: Deque[Scripted] = deque(script or ())
        self._keep_body = keep_body
        self._lock = threading.Lock()
        self._closed = False

    @property
    def api(self) -> KnowledgeApi:
        """The in-memory API behind it."""
        with self._lock:
            if self._api is None:
                self._api = KnowledgeApi()
            return self._api

    @property
    def open_replies(self) -> int:
        """How many replies were neither closed nor read to their end."""
        return sum(not record.reply_closed for record in self.requests)

    def send(self, request: Request) -> Reply:
        """Answer a request as `Transport.send` says; AssertionError if it is not expected."""
        if self._closed:
            raise NotSentError("the transport is closed")
        if request.signal is not None:
            request.signal.raise_if_aborted()
        record = RecordedRequest.of(request)
        with self._lock:
            self.requests.append(record)
            scripted = self._faults.reply_for(record) or self._next_scripted(record)
        moment = Moment(self.clock, request.timeout, request.signal)
        body = recorded(request, record, self._keep_body)
        if scripted is not None:
            reply = self._play(scripted, record, body, moment)
        else:
            reply = self._ask(request, record, body, moment)
        moment.check()
        record.reply = reply
        return reply

    def close(self) -> None:
        """Use it no more; closes the API if it made it."""
        self._closed = True
        if self._owns_api and self._api is not None:
            self._api.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            "a FakeTransport cannot be pickled: what it holds is in the memory of this process. "
            "For tests with several processes serve its API: mistral_knowledge.fake_api.server"
        )

    def reply_next(self, *replies: Scripted, **fields: Any) -> None:
        """Add scripted replies, or one made of `Scripted` fields, for the next requests."""
        self._script.extend(replies if replies else [Scripted(**fields)])

    def _next_scripted(self, record: RecordedRequest) -> Optional[Scripted]:
        asked = f"{record.method} {record.path}"
        if not self._script:
            if self._strict:
                raise AssertionError(f"unexpected request, the script is used up: {asked}")
            return None
        expected = self._script[0]
        wanted = f"{expected.method or '*'} {expected.path or '*'}"
        if not matches(expected, record):
            raise AssertionError(f"unexpected request: {asked}, expected: {wanted}")
        return self._script.popleft()

    def _play(
        self, scripted: Scripted, record: RecordedRequest, body: Iterator[bytes], moment: Moment
    ) -> FakeReply:
        steps = scripted.on_send()
        if not _fails_to_connect(steps):
            _drain(body)
        _drain(played(steps, moment))
        return self._reply(
            scripted.status,
            scripted.reply_headers(),
            played(scripted.body(), moment),
            record,
            moment,
        )

    def _ask(
        self, request: Request, record: RecordedRequest, body: Iterator[bytes], moment: Moment
    ) -> FakeReply:
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = ApiRequest(request.method, record.path, record.query, headers, body)
        reply = self.api.handle(asked)
        # What the API did not need is sent all the same.
        _drain(body)
        pieces = played(reply.pieces, moment)
        return self._reply(reply.status, reply.headers, pieces, record, moment)

    def _reply(
        self,
        status: int,
        headers: Mapping[str, str],
        pieces: Iterator[bytes],
        record: RecordedRequest,
        moment: Moment,
    ) -> FakeReply:
        moment.headers_are_in()
        spoiled = self._faults.spoiled(record, headers, pieces)
        return FakeReply(status, headers, spoiled, moment)


def _fails_to_connect(steps: List[Step]) -> bool:
    first = steps[0] if steps else None
    if not isinstance(first, Raise):
        return False
    error = first.error
    return isinstance(error, NotSentError) or error is NotSentError


def _drain(pieces: Iterator[bytes]) -> None:
    for _ in pieces:
        pass
