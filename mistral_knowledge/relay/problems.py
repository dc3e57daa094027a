"""Errors as the relay tells them: as HTTP replies, and as events of a stream under way."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterable, Mapping, Optional, Tuple, Type

from .._secrets import redact
from ..errors import (
    AbortedError,
    APIError,
    ConfigurationError,
    InvalidArgumentError,
    InvalidRequestError,
    KnowledgeError,
    RateLimitError,
    RequestTimeoutError,
)

_UNSAID = "the answer failed inside the relay; its log says why"
RETRY_AFTER = 5

# A refused key is the relay's trouble with Mistral: as 401 it would look like the caller's token.
_STATUS: Tuple[Tuple[Type[KnowledgeError], int], ...] = (
    (InvalidArgumentError, 422),
    (InvalidRequestError, 422),
    (RateLimitError, 429),
    (RequestTimeoutError, 504),
    (ConfigurationError, 500),
    (AbortedError, 503),
)


class Problem(Exception):
    """A request that is answered with an error: R2R's shape, `{"message", "error_type"}`."""

    def __init__(
        self,
        status: int,
        message: str,
        error_type: str,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.error_type = error_type
        self.headers = dict(headers or {})

    def body(self) -> Dict[str, str]:
        """The JSON that tells it."""
        return {"message": self.message, "error_type": self.error_type}


def invalid(message: str) -> Problem:
    """The problem of a body that cannot be used: 422."""
    return Problem(422, message, "InvalidRequestError")


def problem_of(error: Optional[KnowledgeError], secrets: Iterable[str] = ()) -> Problem:
    """The reply for an answer that failed before it began; None for an error not of ours."""
    if error is None:
        return Problem(500, _UNSAID, "InternalError")
    headers = {}
    if isinstance(error, RateLimitError):
        after = RETRY_AFTER if error.retry_after is None else error.retry_after
        headers["Retry-After"] = str(math.ceil(after))
    return Problem(_status(error), _words(error, secrets), type(error).__name__, headers)


def error_data(
    error: Optional[KnowledgeError], prefix: str = "", secrets: Iterable[str] = ()
) -> Dict[str, Any]:
    """The data of an `error` event, in R2R's shape; plus the kind of error and when to retry."""
    words = _UNSAID if error is None else _words(error, secrets)
    told = {
        "message": f"{prefix}{words}",
        "type": "agent_error",
        "error_type": "InternalError" if error is None else type(error).__name__,
        "retry_after": error.retry_after if isinstance(error, APIError) else None,
    }
    return {"id": "err_00000000", "object": "agent.error", "error": told}


def _status(error: KnowledgeError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 502)


def _words(error: KnowledgeError, secrets: Iterable[str]) -> str:
    return redact(str(error), secrets)
