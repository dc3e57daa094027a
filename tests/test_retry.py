"""_retry: one table of what may be repeated, and after how long."""

from __future__ import annotations

from typing import Any, Optional

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge import Retry
from mistral_knowledge._retry import may_repeat
from mistral_knowledge.errors import (
    AbortedError,
    AnswerFailedError,
    AnswerRateLimitError,
    APIError,
    ConfigurationError,
    ConnectionLostError,
    InvalidArgumentError,
    NotSentError,
    ProcessingError,
    RequestTimeoutError,
    UnexpectedResponseError,
    error_for_status,
)


def refused(status: int, retry_after: Optional[str] = None) -> APIError:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return error_for_status(status, b"", headers)


@pytest.mark.parametrize(
    ("error", "safe", "costly"),
    [
        # error, may a request be repeated that can run twice, and one that must not
        (NotSentError(), True, True),
        (RequestTimeoutError("", "connect", False), True, True),
        (RequestTimeoutError("", "write"), True, False),
        (RequestTimeoutError("", "first_byte"), True, False),
        (RequestTimeoutError("", "idle"), True, False),
        (ConnectionLostError(), True, False),
        (ConnectionLostError("", False), True, True),
        (refused(429), True, True),
        (refused(429, "1"), True, True),
        (refused(503, "1"), True, True),
        (refused(503), True, False),
        (refused(500), True, False),
        (refused(502, "1"), True, False),
        (refused(504), True, False),
        (refused(408), True, False),
        (refused(400), False, False),
        (refused(401), False, False),
        (refused(403), False, False),
        (refused(404), False, False),
        (refused(409), False, False),
        (refused(413), False, False),
        (refused(422), False, False),
        (refused(501), False, False),
        (AbortedError(), False, False),
        (UnexpectedResponseError(), False, False),
        (AnswerFailedError(), False, False),
        (AnswerRateLimitError(), False, False),
        (ConfigurationError(), False, False),
        (InvalidArgumentError(), False, False),
        (ProcessingError(), False, False),
    ],
)
def test_what_is_repeated(error: Any, safe: bool, costly: bool) -> None:
    assert (may_repeat(error, True), may_repeat(error, False)) == (safe, costly)
    delays = (Retry().delay(1, error, True, 0), Retry().delay(1, error, False, 0))
    assert tuple(delay is not None for delay in delays) == (safe, costly)


@pytest.mark.parametrize(
    ("tries", "jitter", "seconds"),
    [(1, 1, 0.5), (2, 1, 1.0), (3, 1, 2.0), (4, 1, 4.0), (1, 0, 0.25), (3, 0, 1.0), (9, 1, 30.0)],
)
def test_waits_double_up_to_the_cap_and_jitter_halves_them_at_most(
    tries: int, jitter: float, seconds: float
) -> None:
    assert Retry(10).delay(tries, NotSentError(), True, jitter) == seconds


def test_it_gives_up_after_the_attempts_that_were_allowed() -> None:
    waits = [Retry(2).delay(tries, NotSentError(), True, 1) for tries in (1, 2, 3)]
    assert waits == [0.5, 1.0, None]
    assert Retry(0).delay(1, NotSentError(), True, 1) is None


@pytest.mark.parametrize(
    ("asked", "seconds"), [("0", 0.0), ("7", 7.0), ("30", 30.0), ("30.1", None), ("86400", None)]
)
def test_the_server_says_how_long_unless_it_is_more_than_the_cap(
    asked: str, seconds: Optional[float]
) -> None:
    assert Retry(backoff=100).delay(1, refused(429, asked), False, 1) == seconds


def test_a_shorter_cap_bounds_both_kinds_of_wait() -> None:
    assert Retry(cap=2).delay(1, refused(429, "3"), False, 1) is None
    assert Retry(9, backoff=5, cap=2).delay(1, NotSentError(), False, 1) == 2.0


@given(
    st.integers(1, 100_000),
    st.floats(0, 1e300),
    st.floats(0, 1e300),
    st.floats(0, 1),
)
def test_a_wait_is_never_longer_than_the_cap_however_many_tries(
    tries: int, backoff: float, cap: float, jitter: float
) -> None:
    seconds = Retry(100_000, backoff, cap).delay(tries, NotSentError(), True, jitter)
    assert seconds is not None
    assert 0 <= seconds <= cap


@pytest.mark.parametrize("value", [-1, 1.5, True, None, "2", float("nan")])
def test_attempts_that_are_no_number_are_refused(value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="attempts"):
        Retry.of(value)


@pytest.mark.parametrize("name", ["backoff", "cap"])
@pytest.mark.parametrize("value", [-1, True, None, "2", float("nan")])
def test_times_that_are_none_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=name):
        Retry(**{name: value})


def test_a_number_stands_for_a_retry_of_that_many_attempts() -> None:
    given_one = Retry(5, backoff=0)
    assert Retry.of(3) == Retry(3)
    assert Retry.of(0) == Retry(0)
    assert Retry.of(given_one) is given_one
    assert Retry() == Retry(attempts=2, backoff=0.5, cap=30)
