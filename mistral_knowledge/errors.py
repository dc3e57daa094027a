"""Every error that this library raises on its own, and which HTTP status becomes which.

    KnowledgeError
    |- ConfigurationError            no key, malformed key, bad setting
    |- InvalidArgumentError          (ValueError) raised before any request
    |- TransportError                the bytes did not get there or back; .maybe_executed
    |  |- NotSentError               surely not executed: no connection was made
    |  |- RequestTimeoutError        (TimeoutError) .which = connect, write, first_byte, idle, total
    |  |- ConnectionLostError        the connection broke
    |- AbortedError                  the caller stopped it; .reason
    |  |- UploadsAbortedError        many files were under way; .done .not_done
    |- APIError                      refused: .status .code .type .request_id .retry_after
    |  |- AuthenticationError 401, PermissionDeniedError 403, NotFoundError 404, ConflictError 409,
    |  |  TooLargeError 413, InvalidRequestError 400 and 422, RateLimitError 429, ServerError 5xx
    |- UnexpectedResponseError       not what the endpoint speaks; redirects
    |- AnswerError                   an answer did not come whole; .partial is what came
    |  |- AnswerFailedError          (APIError, status 200) the server said so in the stream
    |  |- AnswerRateLimitError       (AnswerFailedError, RateLimitError)
    |  |- AnswerTruncatedError       the stream just stopped
    |  |- MalformedEventError        an event could not be read
    |- ProcessingError               a document could not be processed; .document
    |  |- ProcessingTimeoutError     (TimeoutError) it was not done in time

Plain classes whose fields are all optional and positional: each one survives `pickle` and
`copy.deepcopy`, and may have two parents. None carries a key, a prompt or a signed URL. Pure.
"""

from __future__ import annotations

import datetime
import email.utils
import pickle
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
)

from ._error_words import ErrorWords, one_line, words_of, words_of_body
from ._secrets import redact

if TYPE_CHECKING:
    from .models.answers import PartialAnswer
    from .models.documents import Document


class KnowledgeError(Exception):
    """The parent of every error that this library raises on its own."""

    message: str

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    def __copy__(self) -> KnowledgeError:
        # `copy` would go through `__reduce__`, which leaves behind what a pickle must not carry.
        other = type(self)(self.message)
        other.__dict__.update(self.__dict__)
        return other

    def __str__(self) -> str:
        return self.message


class ConfigurationError(KnowledgeError):
    """No key, a malformed key or a bad setting; the message says which, and what to do."""


class InvalidArgumentError(KnowledgeError, ValueError):
    """An argument that cannot work; raised before any request is made."""


class TransportError(KnowledgeError):
    """The request or its reply did not get through.

    `maybe_executed`: whether the server may have acted on the request all the same.
    """

    maybe_executed: bool

    def __init__(self, message: str = "", maybe_executed: bool = True) -> None:
        super().__init__(message)
        self.maybe_executed = maybe_executed


class NotSentError(TransportError):
    """No connection was made, so the request surely did not run."""

    def __init__(self, message: str = "", maybe_executed: bool = False) -> None:
        super().__init__(message, maybe_executed)


class RequestTimeoutError(TransportError, TimeoutError):
    """A limit of `Timeout` ran out; `which` names it: connect, write, first_byte, idle or total."""

    which: str

    def __init__(
        self, message: str = "", which: str = "total", maybe_executed: bool = True
    ) -> None:
        super().__init__(message, maybe_executed)
        self.which = which


class ConnectionLostError(TransportError):
    """The connection broke while the request was sent or the reply was read."""


class AbortedError(KnowledgeError):
    """The caller stopped the call; `reason` is what was given to `AbortSignal.abort`."""

    reason: Any

    def __init__(self, message: str = "the call was aborted", reason: Any = None) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> Any:
        # Anything may be a reason; a lock or a socket must not keep the error from being pickled.
        return type(self), (self.message,), {**self.__dict__, "reason": _picklable(self.reason)}


class UploadsAbortedError(AbortedError):
    """The caller stopped the uploads of many files.

    `done` are the files that have an outcome, `not_done` those that were begun; what comes behind
    them was not begun.
    """

    done: List[Any]
    not_done: List[Any]

    def __init__(
        self,
        message: str = "the uploads were aborted",
        reason: Any = None,
        done: Sequence[Any] = (),
        not_done: Sequence[Any] = (),
    ) -> None:
        super().__init__(message, reason)
        self.done = list(done)
        self.not_done = list(not_done)

    @classmethod
    def of(cls, done: Sequence[Any], not_done: Sequence[Any], reason: Any) -> UploadsAbortedError:
        """The error, with words that say how far it came."""
        words = (
            f"the uploads were aborted: {len(done)} done, {len(not_done)} begun and not done, "
            "the rest not begun"
        )
        return cls(f"{words}: {reason}" if reason else words, reason, done, not_done)


class APIError(KnowledgeError):
    """The server answered with an error.

    `status` is the HTTP status, `code` and `type` are the server's own, `request_id` is what
    support asks for, `retry_after` is in seconds; each is None where the server did not say.
    """

    status: Optional[int]
    code: Optional[str]
    type: Optional[str]
    request_id: Optional[str]
    retry_after: Optional[float]

    def __init__(
        self,
        message: str = "",
        status: Optional[int] = None,
        code: Optional[str] = None,
        type: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.type = type
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        known = [("status", self.status), ("code", self.code), ("request id", self.request_id)]
        facts = ", ".join(f"{name} {value}" for name, value in known if value is not None)
        return f"{self.message} ({facts})" if facts else self.message


class AuthenticationError(APIError):
    """401: the key is missing, wrong or expired."""


class PermissionDeniedError(APIError):
    """403: the key may not do this, or a guardrail blocked it."""


class NotFoundError(APIError):
    """404: no such thing, or not for this key."""


class ConflictError(APIError):
    """409: it clashes with what is there."""


class TooLargeError(APIError):
    """413: the upload or the request is too large."""


class InvalidRequestError(APIError):
    """400 or 422: the server does not accept the request as it is."""


class RateLimitError(APIError):
    """429: too many requests; `retry_after` says how long to wait, where the server does."""


class ServerError(APIError):
    """5xx: the fault is on the server's side."""


class UnexpectedResponseError(KnowledgeError):
    """The reply is not what the endpoint speaks: a redirect, HTML, or JSON of another shape."""

    status: Optional[int]
    content_type: Optional[str]
    request_id: Optional[str]

    def __init__(
        self,
        message: str = "",
        status: Optional[int] = None,
        content_type: Optional[str] = None,
        request_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.content_type = content_type
        self.request_id = request_id


class AnswerError(KnowledgeError):
    """An answer did not come whole. `partial` is what came, and is never to be taken for it."""

    partial: Optional[PartialAnswer]

    def __init__(self, message: str = "", partial: Optional[PartialAnswer] = None) -> None:
        super().__init__(message)
        self.partial = partial

    def __reduce__(self) -> Any:
        # Errors are pickled into task queues and logs: what could be secret stays behind.
        state = dict(self.__dict__)
        if self.partial is not None:
            state["partial"] = self.partial.without_secrets()
        return type(self), (self.message,), state


class AnswerFailedError(AnswerError, APIError):
    """The server reported, inside a stream or body under status 200, that it failed."""

    def __init__(
        self,
        message: str = "",
        status: Optional[int] = 200,
        code: Optional[str] = None,
        type: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        partial: Optional[PartialAnswer] = None,
    ) -> None:
        APIError.__init__(self, message, status, code, type, request_id, retry_after)
        self.partial = partial


class AnswerRateLimitError(AnswerFailedError, RateLimitError):
    """The server reported a rate limit inside the stream."""


class AnswerTruncatedError(AnswerError):
    """The stream stopped before its end mark."""


class MalformedEventError(AnswerError):
    """An event of the stream could not be read; `event` is its name."""

    event: Optional[str]

    def __init__(
        self,
        message: str = "",
        partial: Optional[PartialAnswer] = None,
        event: Optional[str] = None,
    ) -> None:
        super().__init__(message, partial)
        self.event = event


class ProcessingError(KnowledgeError):
    """The server could not process a document; `document` is its last known state."""

    document: Optional[Document]

    def __init__(self, message: str = "", document: Optional[Document] = None) -> None:
        super().__init__(message)
        self.document = document

    def __reduce__(self) -> Any:
        state = dict(self.__dict__)
        if self.document is not None:
            state["document"] = self.document.without_secrets()
        return type(self), (self.message,), state


class ProcessingTimeoutError(ProcessingError, TimeoutError):
    """A document was not processed within the deadline; it may still be later."""


_BY_STATUS: Dict[int, Tuple[Type[APIError], str]] = {
    400: (InvalidRequestError, "the server does not accept the request"),
    401: (AuthenticationError, "the API key was not accepted"),
    403: (PermissionDeniedError, "the API key may not do this"),
    404: (NotFoundError, "not found"),
    409: (ConflictError, "it conflicts with what is there"),
    413: (TooLargeError, "too large for the server"),
    422: (InvalidRequestError, "the server does not accept the request"),
    429: (RateLimitError, "too many requests"),
}


def error_for_status(
    status: int,
    body: bytes,
    headers: Mapping[str, str],
    now: Optional[float] = None,
    secrets: Iterable[str] = (),
) -> APIError:
    """The error for an HTTP status of 400 and above, with the server's own words, redacted.

    now: the Unix time, for a `retry-after` date in a reply that has no `date` of its own
    secrets: what must not be shown although the server says it: some quote the key they refuse
    """
    words = words_of_body(body)
    kind, fallback = _BY_STATUS.get(status) or _by_class(status)
    return kind(
        redact(words.message, secrets) or fallback,
        status,
        words.code,
        words.type,
        request_id_of(headers) or words.request_id,
        retry_after_of(headers, now),
    )


def error_under_200(status: int, payload: Any, headers: Mapping[str, str]) -> APIError:
    """The error for an error object where a result was expected, under a status of success."""
    words = words_of(payload)
    message = words.message or "the server reported an error under a status of success"
    request_id = request_id_of(headers) or words.request_id
    return APIError(message, status, words.code, words.type, request_id)


def error_in_answer(
    words: ErrorWords, request_id: Optional[str], partial: Optional[PartialAnswer]
) -> AnswerFailedError:
    """The error for what a server reports inside a stream or body under status 200."""
    limited = words.code in ("429", "1300") or (words.type or "").startswith("rate_limit")
    kind = AnswerRateLimitError if limited else AnswerFailedError
    message = words.message or "the server reported an error in the answer"
    return kind(message, 200, words.code, words.type, words.request_id or request_id, None, partial)


def request_id_of(headers: Mapping[str, str]) -> Optional[str]:
    """The id that the server gave the request, from lower-case headers."""
    for name in ("x-request-id", "mistral-correlation-id", "x-kong-request-id", "request-id"):
        if headers.get(name):
            return one_line(headers[name])
    return None


def hide_in(error: KnowledgeError, secrets: Iterable[str]) -> None:
    """Take `secrets` out of an error's words and fields: servers and proxies may quote them."""
    hidden = list(secrets)
    error.args = tuple(redact(one, hidden) if isinstance(one, str) else one for one in error.args)
    for name, value in list(vars(error).items()):
        if isinstance(value, str):
            setattr(error, name, redact(value, hidden))


def retry_after_of(headers: Mapping[str, str], now: Optional[float] = None) -> Optional[float]:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date); else None.

    A date is taken relative to the reply's own `date` header, so that a wrong local clock does no
    harm; `now` (Unix time) stands in where there is none.
    """
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000.0
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    then, start = _date(value), _date(headers.get("date"))
    origin = start if start is not None else now
    return max(0.0, then - origin) if then is not None and origin is not None else None


def _picklable(value: Any) -> Any:
    """`value`, or its repr where it cannot be pickled."""
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError):
        return repr(value)
    return value


def _by_class(status: int) -> Tuple[Type[APIError], str]:
    if status >= 500:
        return ServerError, "the server failed"
    return APIError, f"the server answered with status {status}"


def _number(value: Optional[str]) -> Optional[float]:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _date(value: Optional[str]) -> Optional[float]:
    try:
        parsed = email.utils.parsedate_to_datetime(value or "")
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=datetime.timezone.utc)
    return parsed.timestamp()
