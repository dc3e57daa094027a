"""errors: status to error, Retry-After, and errors that can be copied and pickled without harm."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import threading
from typing import Any, Dict, List, Optional, Type

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge import errors
from mistral_knowledge._error_words import ErrorWords
from mistral_knowledge.errors import (
    AnswerFailedError,
    AnswerRateLimitError,
    APIError,
    ProcessingError,
    ProcessingTimeoutError,
    RequestTimeoutError,
    error_for_status,
    error_in_answer,
    request_id_of,
    retry_after_of,
)
from mistral_knowledge.models.answers import Citation, PartialAnswer, Usage
from mistral_knowledge.models.documents import Document

URL = "https://files.example/paper.pdf?sig=s3cr3t"
CITATION = Citation("c1", 1, 1, 0, 5, "document", 7, "d1", "paper", URL, True, {"url": URL})
PARTIAL = PartialAnswer(["The ", "sky"], [CITATION], Usage(1, 2, 3))
DOCUMENT = Document(id="d1", library_id="l1", process_status="error", url=URL, raw={"url": URL})

CLASSES: List[Type[errors.KnowledgeError]] = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, errors.KnowledgeError)
]
SAMPLES: Dict[str, Any] = {
    "message": "it failed",
    "maybe_executed": True,
    "which": "idle",
    "reason": "the user pressed stop",
    "status": 418,
    "code": "1300",
    "type": "teapot",
    "request_id": "r-1",
    "retry_after": 1.5,
    "content_type": "text/html",
    "partial": PARTIAL,
    "event": "message",
    "document": DOCUMENT,
    "done": ["a.md"],
    "not_done": ["b.md", "c.md"],
}


def filled(cls: Type[errors.KnowledgeError]) -> errors.KnowledgeError:
    return cls(*(SAMPLES[name] for name in list(inspect.signature(cls).parameters)))


def fields(error: Any) -> Dict[str, Any]:
    return {name: getattr(error, name) for name in SAMPLES if hasattr(error, name)}


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_error_survives_pickle(cls: Type[errors.KnowledgeError], protocol: int) -> None:
    error = filled(cls)
    again = pickle.loads(pickle.dumps(error, protocol))
    kept = fields(error)
    if "document" in kept:
        kept["document"] = DOCUMENT.without_secrets()
    if "partial" in kept:
        kept["partial"] = PARTIAL.without_secrets()
    assert type(again) is cls
    assert fields(again) == kept
    assert (str(again), again.args) == (str(error), error.args)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_every_error_can_be_copied(cls: Type[errors.KnowledgeError], duplicate: Any) -> None:
    error = filled(cls)
    again = duplicate(error)
    assert type(again) is cls
    assert set(fields(again)) == set(fields(error))
    assert (str(again), again.args) == (str(error), error.args)


@pytest.mark.parametrize("cls", [errors.AnswerTruncatedError, ProcessingError])
def test_a_plain_copy_of_an_error_keeps_all_that_it_holds(
    cls: Type[errors.KnowledgeError],
) -> None:
    error = filled(cls)
    assert all(value is getattr(copy.copy(error), name) for name, value in fields(error).items())


@pytest.mark.parametrize("cls", CLASSES)
def test_every_field_of_an_error_is_optional_and_positional(
    cls: Type[errors.KnowledgeError],
) -> None:
    parameters = inspect.signature(cls).parameters.values()
    assert {parameter.kind for parameter in parameters} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    assert isinstance(cls(), errors.KnowledgeError)
    assert pickle.loads(pickle.dumps(cls())).args == cls().args


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("make", [repr, str, lambda error: pickle.dumps(error).decode("latin-1")])
def test_no_error_shows_or_pickles_a_signed_url(
    cls: Type[errors.KnowledgeError], make: Any
) -> None:
    assert "s3cr3t" not in make(filled(cls))


def test_a_reason_that_cannot_be_pickled_is_told_by_its_repr() -> None:
    lock = threading.Lock()
    for reason in (lock, [lock], lambda: None, {"of": {"deep": lock}}):
        error = errors.AbortedError("stopped", reason)
        for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
            assert (str(again), again.reason) == ("stopped", repr(reason))
    kept = pickle.loads(pickle.dumps(errors.AbortedError("stopped", {"by": "the user"})))
    assert kept.reason == {"by": "the user"}


def test_what_is_added_to_an_error_later_is_pickled_too() -> None:
    error = errors.AnswerTruncatedError("x", PARTIAL)
    error.ticket = "T-1"  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(error)).ticket == "T-1"


@pytest.mark.parametrize(
    ("cls", "parents"),
    [
        (errors.InvalidArgumentError, {ValueError}),
        (RequestTimeoutError, {TimeoutError, errors.TransportError}),
        (ProcessingTimeoutError, {TimeoutError, ProcessingError}),
        (AnswerFailedError, {APIError, errors.AnswerError}),
        (AnswerRateLimitError, {AnswerFailedError, errors.RateLimitError}),
    ],
)
def test_errors_are_caught_by_each_of_their_parents(cls: Any, parents: Any) -> None:
    assert all(issubclass(cls, parent) for parent in parents)


def test_an_abort_is_no_transport_error_so_that_no_policy_repeats_it() -> None:
    assert not issubclass(errors.AbortedError, (errors.TransportError, APIError))


@pytest.mark.parametrize(
    ("status", "cls"),
    [
        (400, errors.InvalidRequestError),
        (401, errors.AuthenticationError),
        (402, APIError),
        (403, errors.PermissionDeniedError),
        (404, errors.NotFoundError),
        (405, APIError),
        (408, APIError),
        (409, errors.ConflictError),
        (413, errors.TooLargeError),
        (418, APIError),
        (422, errors.InvalidRequestError),
        (429, errors.RateLimitError),
        (500, errors.ServerError),
        (502, errors.ServerError),
        (503, errors.ServerError),
        (599, errors.ServerError),
        (600, errors.ServerError),
    ],
)
def test_each_status_has_its_error(status: int, cls: Type[APIError]) -> None:
    error = error_for_status(status, b"", {})
    assert type(error) is cls
    assert error.status == status
    assert error.message  # never an empty one, also of an empty body
    assert str(error).endswith(f"(status {status})")


def test_an_error_holds_what_the_server_said() -> None:
    body = json.dumps({"message": "Slow down", "type": "rate_limited", "code": 1300}).encode()
    error = error_for_status(429, body, {"x-request-id": "r-9", "retry-after": "7"})
    assert fields(error) == {
        "message": "Slow down",
        "status": 429,
        "code": "1300",
        "type": "rate_limited",
        "request_id": "r-9",
        "retry_after": 7.0,
    }
    assert str(error) == "Slow down (status 429, code 1300, request id r-9)"


def test_a_key_that_the_server_quotes_is_not_shown() -> None:
    body = b'{"message": "Incorrect API key provided: sk-12345."}'
    error = error_for_status(401, body, {}, None, ["sk-12345"])
    assert error.message == "Incorrect API key provided: ***."


@pytest.mark.parametrize(
    ("headers", "request_id"),
    [
        ({"x-request-id": "a", "mistral-correlation-id": "b"}, "a"),
        ({"mistral-correlation-id": "b"}, "b"),
        ({"x-kong-request-id": "c"}, "c"),
        ({"request-id": "d"}, "d"),
        ({"x-request-id": ""}, None),
        ({}, None),
    ],
)
def test_the_request_id_is_found_under_each_name(
    headers: Dict[str, str], request_id: Optional[str]
) -> None:
    assert request_id_of(headers) == request_id


def test_the_request_id_of_the_headers_beats_that_of_the_body() -> None:
    body = b'{"message": "x", "request_id": "body"}'
    assert error_for_status(500, body, {"x-request-id": "head"}).request_id == "head"
    assert error_for_status(500, body, {}).request_id == "body"


DATE, TEN_LATER = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:10 GMT"
AT_DATE = 1445412480.0


@pytest.mark.parametrize(
    ("headers", "now", "seconds"),
    [
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after": "0"}, None, 0.0),
        ({"retry-after": " 2.5 "}, None, 2.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, None, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, None, 7.0),
        ({"retry-after": TEN_LATER, "date": DATE}, 0.0, 10.0),
        ({"retry-after": TEN_LATER}, AT_DATE, 10.0),
        ({"retry-after": TEN_LATER, "date": "garbage"}, AT_DATE, 10.0),
        ({"retry-after": DATE, "date": TEN_LATER}, None, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:10 -0000", "date": DATE}, None, 10.0),
        ({"retry-after": "Wed, 21 Oct 2015 09:28:10 +0200", "date": DATE}, None, 10.0),
        ({"retry-after": TEN_LATER}, None, None),
        ({"retry-after": "-5"}, 0.0, None),
        ({"retry-after": "nan"}, 0.0, None),
        ({"retry-after": "inf"}, 0.0, None),
        ({"retry-after": "soon"}, 0.0, None),
        ({"retry-after": ""}, 0.0, None),
        ({"retry-after": "Wed, 99 Oct 2015 07:28:10 GMT"}, 0.0, None),
        ({}, 0.0, None),
    ],
)
def test_retry_after_is_read_in_every_form_and_garbage_is_ignored(
    headers: Dict[str, str], now: Optional[float], seconds: Optional[float]
) -> None:
    assert retry_after_of(headers, now) == seconds


@given(st.text(), st.text(), st.text())
def test_no_retry_after_header_is_an_error(value: str, date: str, millis: str) -> None:
    headers = {"retry-after": value, "date": date, "retry-after-ms": millis}
    seconds = retry_after_of(headers, 0.0)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("words", "cls"),
    [
        (ErrorWords("x", "1300"), AnswerRateLimitError),
        (ErrorWords("x", "429"), AnswerRateLimitError),
        (ErrorWords("x", None, "rate_limited"), AnswerRateLimitError),
        (ErrorWords("x", None, "rate_limit_error"), AnswerRateLimitError),
        (ErrorWords("x", "1500", "invalid_model"), AnswerFailedError),
        (ErrorWords(), AnswerFailedError),
    ],
)
def test_what_a_server_reports_in_an_answer_is_an_error_of_status_200(
    words: ErrorWords, cls: Type[AnswerFailedError]
) -> None:
    error = error_in_answer(words, "r-1", PARTIAL)
    assert type(error) is cls
    assert (error.status, error.request_id, error.partial) == (200, "r-1", PARTIAL)
    assert error.message


def test_the_module_docstring_draws_every_error() -> None:
    assert [cls.__name__ for cls in CLASSES if cls.__name__ not in (errors.__doc__ or "")] == []
