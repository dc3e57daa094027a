"""The hall between the rooms and the door: a call becomes requests, a reply a value or an error.

Headers, address, key, repetition, deadline, status and log are here and nowhere else.
"""

from __future__ import annotations

import datetime
import json
import logging
import random
import sys
import time
import uuid
from typing import Any, Callable, Mapping, Optional, Sequence, Set, Tuple, TypeVar, Union
from urllib.parse import urlencode, urlsplit

import attr

from ._checks import refuse
from ._json import read_json
from ._multipart import MultipartBody
from ._retry import Retry
from ._secrets import ApiKey, Headers, key_problem, redact
from ._version import __version__
from .abort import AbortSignal, Deadline
from .errors import (
    APIError,
    ConfigurationError,
    InvalidArgumentError,
    KnowledgeError,
    RequestTimeoutError,
    UnexpectedResponseError,
    error_for_status,
    error_under_200,
    hide_in,
    request_id_of,
)
from .transports import Reply, Request, Timeout, Transport
from .transports._linger import within

log = logging.getLogger("mistral_knowledge")

Result = TypeVar("Result")
Query = Sequence[Tuple[str, Union[str, int, bool, None]]]

_ERROR_BODY_BYTES = 64 * 1024
_ERROR_BODY_SECONDS = 5.0


class NotGiven:
    """The type of NOT_GIVEN: told apart from None, which for a timeout means no limit."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Options:
    """What one call may set for itself.

    timeout: a Timeout, seconds for the whole call, or None for no limit
    retries: a number of repetitions, or a Retry
    signal: an AbortSignal that ends the call

    Raises InvalidArgumentError for what is none of these.
    """

    timeout: Union[Timeout, float, NotGiven, None] = NOT_GIVEN
    retries: Union[Retry, int, NotGiven] = NOT_GIVEN
    signal: Optional[AbortSignal] = None

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.timeout, NotGiven):
            Timeout.of(self.timeout)
        if not isinstance(self.retries, NotGiven):
            Retry.of(self.retries)
        if self.signal is not None and not isinstance(self.signal, AbortSignal):
            refuse("signal", self.signal, "an AbortSignal")


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Call:
    """One operation of the API.

    repeatable: whether it may run twice without harm or cost; a POST may not unless it says so
    """

    method: str
    path: str
    query: Query = attr.ib(default=(), repr=False)
    json: Any = attr.ib(default=None, repr=False)
    body: Optional[MultipartBody] = attr.ib(default=None, repr=False)
    accept: str = "application/json"
    repeatable: Optional[bool] = None

    @property
    def may_run_twice(self) -> bool:
        """Whether it may be sent again although the first may have been executed."""
        # A repeated DELETE would answer 404 for what the first one did.
        safe = self.method not in ("POST", "DELETE") if self.repeatable is None else self.repeatable
        return safe and self.can_be_sent_again

    @property
    def can_be_sent_again(self) -> bool:
        """Whether its body can be read once more."""
        return self.body is None or self.body.repeatable


@attr.s(auto_attribs=True, slots=True)
class Caller:
    """Makes calls over a transport; shared by all resources of a client.

    learned: what the server has taught us, for the life of the client
    """

    transport: Transport
    api_key: ApiKey
    base_url: str
    timeout: Timeout
    retry: Retry
    headers: Headers
    learned: Set[str] = attr.ib(factory=set)

    def json(self, call: Call, options: Options) -> Any:
        """The decoded JSON of the reply, or None where it has no body."""
        return self.run(call, options, lambda reply, _: decoded(reply))

    def status_and_json(self, call: Call, options: Options) -> Tuple[int, Any]:
        """The reply's status and its decoded JSON."""
        return self.run(call, options, lambda reply, _: (reply.status, decoded(reply)))

    def run(
        self, call: Call, options: Options, read: Callable[[Reply, AbortSignal], Result]
    ) -> Result:
        """`read(reply, signal)` of a good reply; repeated as `_retry` allows, within the limits.

        Raises TransportError, APIError, UnexpectedResponseError, AbortedError, ConfigurationError
        (no usable key), and what `read` raises.
        """
        timeout = self._timeout(options)
        retry = self.retry if isinstance(options.retries, NotGiven) else Retry.of(options.retries)
        deadline = _deadline(timeout.total)
        signal = AbortSignal.any(options.signal, deadline)
        request = self._request(call, timeout, signal)
        tries = 0
        while True:
            signal.raise_if_aborted()
            tries += 1
            try:
                return self._try(request, signal, call, tries, read)
            except KnowledgeError as error:
                hide_in(error, [_bearer(request)])
                delay = _delay(retry, tries, error, call, deadline)
                if delay is None:
                    raise
            log.debug("%s %s is tried again in %.2f s", call.method, call.path, delay)
            signal.wait(delay)

    def hide(self, error: KnowledgeError) -> None:
        """Take the key out of an error that comes after `run`, while an answer is read."""
        if self.transport.needs_key:
            hide_in(error, [self.api_key.read() or ""])

    def within(self, options: Options, signal: AbortSignal) -> Options:
        """Options for a further request of the same call: `signal` carries its deadline on."""
        timeout = attr.evolve(self._timeout(options), total=None)
        return attr.evolve(options, timeout=timeout, signal=signal)

    def _try(
        self,
        request: Request,
        signal: AbortSignal,
        call: Call,
        tries: int,
        read: Callable[[Reply, AbortSignal], Result],
    ) -> Result:
        began = time.monotonic()
        reply = self.transport.send(request)
        _log(call, request, reply, tries, time.monotonic() - began)
        try:
            _refuse_redirect(reply, request)
            if reply.status < 200 or reply.status == 206:
                raise _no_result(reply)
            if reply.status >= 400:
                error = _refusal(reply, request)
                signal.raise_if_aborted()
                raise error
            return read(reply, signal)
        except BaseException:
            reply.close()
            raise

    def _timeout(self, options: Options) -> Timeout:
        if isinstance(options.timeout, NotGiven):
            return self.timeout
        return Timeout.of(options.timeout, self.timeout)

    def _request(self, call: Call, timeout: Timeout, signal: AbortSignal) -> Request:
        body: Union[bytes, MultipartBody, None] = call.body
        headers = Headers(self.headers)
        headers["accept"] = call.accept
        headers["accept-encoding"] = "gzip, deflate" if _is_json(call.accept) else "identity"
        if call.json is not None:
            body = encoded(call.json)
            headers["content-type"] = "application/json"
        elif call.body is not None:
            headers["content-type"] = call.body.content_type
        if self.transport.needs_key:
            headers["authorization"] = f"Bearer {self._key()}"
        return Request(call.method, self._url(call), headers, body, timeout, signal)

    def _url(self, call: Call) -> str:
        given = [(name, _query_value(value)) for name, value in call.query if value is not None]
        return f"{self.base_url}{call.path}" + (
            f"?{urlencode(given, errors='surrogatepass')}" if given else ""
        )

    def _key(self) -> str:
        key = self.api_key.read()
        if key is None:
            raise ConfigurationError(
                "no API key: set the environment variable MISTRAL_API_KEY, "
                "or give KnowledgeClient(api_key=...)"
            )
        problem = key_problem(key)
        if problem:
            del key  # tools that show the variables of a traceback's frames would show it
            raise ConfigurationError(f"the API key cannot be used: {problem}")
        return key


def decoded(reply: Reply) -> Any:
    """The JSON of a reply, always as UTF-8; None for an empty body."""
    body = b"".join(reply)
    if not body.strip():
        return None
    try:
        payload = read_json(body)
    except ValueError:
        payload = NOT_GIVEN  # our error must not be chained to this one: it holds the whole body
    if isinstance(payload, NotGiven):
        raise unexpected(reply, body)
    if isinstance(payload, dict) and payload.get("object") == "error":
        raise error_under_200(reply.status, payload, reply.headers)
    return payload


def encoded(value: Any) -> bytes:
    """JSON for the wire: compact, ASCII, datetimes as ISO 8601."""
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)
    except RecursionError:
        raise InvalidArgumentError(
            "an argument cannot be sent as JSON: it nests too deep"
        ) from None
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"an argument cannot be sent as JSON: {error}") from None
    return text.encode("ascii")


def unexpected(reply: Reply, body: bytes) -> UnexpectedResponseError:
    """The error for a reply that is not what the endpoint speaks."""
    kind = reply.headers.get("content-type")
    return UnexpectedResponseError(
        f"expected JSON, got {_what_came(kind, body)}",
        reply.status,
        kind,
        request_id_of(reply.headers),
    )


def _what_came(kind: Optional[str], body: bytes) -> str:
    if "json" in (kind or ""):
        # It is the API's own, cut or broken, and may hold the text of a document.
        return f"{kind} that is broken or cut ({len(body)} bytes)"
    preview = redact(body[:200].decode("utf-8", "replace"))
    return f"{kind or 'a body without a content type'}: {preview!r}"


def user_agent(own: Optional[str] = None) -> str:
    """The User-Agent header: the caller's own words first, ours always."""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    ours = f"mistral-knowledge/{__version__} python/{python}"
    return f"{own} {ours}" if own else ours


def _deadline(total: Optional[float]) -> Optional[Deadline]:
    if total is None:
        return None
    words = f"the call took longer than its timeout of {total:g} s in all"
    return Deadline(total, RequestTimeoutError(words, "total"))


def _delay(
    retry: Retry, tries: int, error: KnowledgeError, call: Call, deadline: Optional[Deadline]
) -> Optional[float]:
    if not call.can_be_sent_again:
        return None
    delay = retry.delay(tries, error, call.may_run_twice, random.random())
    if delay is not None and deadline is not None and delay >= deadline.remaining():
        return None
    return delay


def _refuse_redirect(reply: Reply, request: Request) -> None:
    if not 300 <= reply.status < 400:
        return
    target = _host_of(reply.headers.get("location", ""))
    raise UnexpectedResponseError(
        f"{urlsplit(request.url).hostname} redirects to {target} (status {reply.status}); "
        "redirects are not followed, because they could carry the key elsewhere: set base_url",
        reply.status,
        reply.headers.get("content-type"),
        request_id_of(reply.headers),
    )


def _no_result(reply: Reply) -> UnexpectedResponseError:
    words = f"the server answered with status {reply.status}, which is no whole result"
    kind = reply.headers.get("content-type")
    return UnexpectedResponseError(words, reply.status, kind, request_id_of(reply.headers))


def _host_of(location: str) -> str:
    try:
        return urlsplit(location).hostname or "the same host"
    except ValueError:
        return "an address that cannot be read"


def _refusal(reply: Reply, request: Request) -> APIError:
    """The error for a status of 400 and above; a body that breaks off does not hide it."""
    body = b""
    for piece in within(_ERROR_BODY_SECONDS, reply, reply.close):
        body += piece
        if len(body) >= _ERROR_BODY_BYTES:
            break
    words = body[:_ERROR_BODY_BYTES]
    secrets = [_bearer(request)]
    return error_for_status(reply.status, words, reply.headers, time.time(), secrets)


def _bearer(request: Request) -> str:
    return request.headers.get("authorization", "").rpartition(" ")[2]


def _log(call: Call, request: Request, reply: Reply, tries: int, seconds: float) -> None:
    log.debug(
        "%s %s: %d after %.0f ms, try %d, request id %s",
        call.method,
        call.path,
        reply.status,
        seconds * 1000,
        tries,
        redact(request_id_of(reply.headers) or "None", [_bearer(request)]),
    )


def _is_json(accept: str) -> bool:
    return accept == "application/json"


def _query_value(value: Union[str, int, bool, None]) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        # Zero offset as Z, which is how the API and its own SDK write it.
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")
