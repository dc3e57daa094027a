"""Refusals of a server, redirects and Retry-After, over a real connection, which serves again."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

import pytest

from mistral_knowledge import (
    APIError,
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    Retry,
    ServerError,
    TooLargeError,
    UnexpectedResponseError,
)
from mistral_knowledge._loopback import Connection, head
from mistral_knowledge._scenarios import raised
from mistral_knowledge.abort import AbortSignal

from .serving import END, OPERATIONS, Good, sends, stage

STATUSES = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    422: InvalidRequestError,
    429: RateLimitError,
    500: ServerError,
    502: ServerError,
    503: ServerError,
}
DETAIL = [{"loc": ["body", "x"], "msg": "No", "type": "t", "input": "private", "url": "u"}]
ERROR = {"object": "error", "message": "No", "type": "t", "param": None, "code": "1500"}
# wire.md: body, then message, code, type and request id of the error
BODIES: Dict[str, Any] = {
    "a list of details": ({"detail": DETAIL}, "body.x: No", None, None, None),
    "a detail in words": ({"detail": "No"}, "No", None, None, None),
    "a detail with a code": ({"detail": "No", "code": "WF_1"}, "No", "WF_1", None, None),
    "a detail as an object": (
        {"detail": {"message": "No", "error_code": None}},
        "No",
        None,
        None,
        None,
    ),
    "an error object": (ERROR, "No", "1500", "t", None),
    "a message that is an object": (
        {**ERROR, "message": {"detail": DETAIL}},
        "body.x: No",
        "1500",
        "t",
        None,
    ),
    "a message that is JSON": (
        {**ERROR, "message": json.dumps({"detail": DETAIL})},
        "body.x: No",
        "1500",
        "t",
        None,
    ),
    "a gateway's": ({"message": "No", "request_id": "r-1"}, "No", None, None, "r-1"),
    "a message alone": ({"message": "No"}, "No", None, None, None),
    "an error in an error": ({"error": {"message": "No", "code": 7}}, "No", "7", None, None),
    "an error and a reason": ({"error": "No", "reason": "quota"}, "No: quota", None, None, None),
    "text": (b"No", "No", None, None, None),
    "HTML": (b"<html><h1>No</h1></html>", "No", None, None, None),
    "nothing": (b"", None, None, None, None),
    "no UTF-8": (b"\xff\xfe", "\ufffd\ufffd", None, None, None),
}


def refusing(status: int, body: Any, **headers: Any) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return sends(lambda good: head(status, content_length=len(data), **headers) + data, None)


@pytest.mark.parametrize("shape", BODIES)
@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_its_error_with_the_servers_words(status: int, shape: str) -> None:
    body, *expected = BODIES[shape]
    names = list(OPERATIONS)
    fault = refusing(status, body)
    with stage(OPERATIONS["get"].good, *[fault] * len(names)) as (server, client):
        for name in names:
            error = raised(STATUSES[status], lambda: OPERATIONS[name].call(client))  # noqa: B023
            assert isinstance(error, APIError)
            message, *rest = expected
            assert error.message == (message or error.message)
            assert error.message
            assert "private" not in str(error)
            assert [error.status, error.code, error.type, error.request_id] == [status, *rest]
        assert (len(server.seen), server.connections) == (len(names), 1)


@pytest.mark.parametrize("length", ["much too long", "cut", "no length"])
def test_a_body_of_a_refusal_that_breaks_off_or_never_ends_hides_nothing(length: str) -> None:
    body = b'{"detail": "No"}'

    def fault(connection: Connection, good: Good) -> str:
        if length == "much too long":
            connection.send(head(403, content_length=1 << 30) + body + b" " * (1 << 20))
        elif length == "cut":
            connection.send(head(403, content_length=99) + body)
        else:
            connection.send(head(403, connection="close") + body)
        return END

    for operation in OPERATIONS.values():
        with stage(operation.good, fault) as (server, client):
            error = raised(PermissionDeniedError, lambda: operation.call(client))  # noqa: B023
            assert (error.status, error.message) == (403, "No")
            assert operation.call(client) == operation.value
            assert server.connections == 2


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "target", ["/elsewhere", "https://other.example/x", "//other.example", "http://[", "\xff", None]
)
def test_a_redirect_is_refused_and_sent_nowhere(status: int, target: Optional[str]) -> None:
    more = {} if target is None else {"location": target}
    for operation in OPERATIONS.values():
        with stage(operation.good, refusing(status, b"moved", **more)) as (server, client):
            error = raised(UnexpectedResponseError, lambda: operation.call(client))  # noqa: B023
            assert error.status == status
            assert "redirects" in str(error)
            assert operation.call(client) == operation.value
            assert (len(server.seen), server.connections) == (2, 1)


DATE, TEN_LATER = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:10 GMT"
PAUSES: Dict[str, Any] = {
    "seconds": ({"retry_after": "7"}, 7.0),
    "no time at all": ({"retry_after": "0"}, 0.0),
    "milliseconds": ({"retry_after_ms": "250", "retry_after": "7"}, 0.25),
    "a date": ({"retry_after": TEN_LATER, "date": DATE}, 10.0),
    "a date that is over": ({"retry_after": DATE, "date": TEN_LATER}, 0.0),
    "words": ({"retry_after": "soon"}, None),
    "below zero": ({"retry_after": "-1"}, None),
    "no number": ({"retry_after": "nan"}, None),
    "for ever": ({"retry_after": "inf"}, None),
    "nothing": ({"retry_after": ""}, None),
    "none": ({}, None),
}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> List[Optional[float]]:
    """The pauses that calls take before they try again; none is really taken."""
    taken: List[Optional[float]] = []

    def wait(self: AbortSignal, seconds: Optional[float]) -> bool:
        taken.append(seconds)
        return False

    monkeypatch.setattr(AbortSignal, "wait", wait)
    return taken


@pytest.mark.parametrize("form", PAUSES)
@pytest.mark.parametrize("status", [429, 503])
def test_the_pause_that_a_server_asks_for_is_taken_and_told(
    status: int, form: str, waits: List[float]
) -> None:
    headers, seconds = PAUSES[form]
    fault = refusing(status, b"", **headers)
    for operation in OPERATIONS.values():
        waits.clear()
        with stage(operation.good, fault, retries=Retry(1, backoff=1)) as (server, client):
            if not operation.safe and status == 503 and seconds is None:
                raised(ServerError, lambda: operation.call(client))  # noqa: B023
                assert waits == []
                continue
            assert operation.call(client) == operation.value
            assert len(waits) == 1
            assert waits[0] == seconds if seconds is not None else 0.5 <= waits[0] <= 1
            assert server.connections == 1
        with stage(operation.good, fault) as (_, client):
            error = raised(APIError, lambda: operation.call(client))  # noqa: B023
            assert error.retry_after == seconds
