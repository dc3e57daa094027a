"""One request over a session of requests, up to the head of its response."""

from __future__ import annotations

import re
from typing import Any, Dict, Mapping, Optional, Tuple
from urllib.parse import urlsplit

import requests

from .._secrets import is_loopback
from ..errors import InvalidArgumentError
from . import Request, Timeout
from ._call import CURRENT, Call
from ._failures import LIBRARY_ERRORS, error_for
from ._quiet_logs import keep_queries_out_of_logs
from ._reading import socket_of
from ._requests_body import BodyFailed, Upload, upload_of
from ._requests_reply import RequestsReply
from ._scrub import Secrets

_UNFIT = re.compile("[\r\n\0]|[^\0-\xff]")


def exchange(session: Any, request: Request) -> RequestsReply:
    """Send `request`, and return the reply when its head is in."""
    check_headers(request.headers)
    secrets, upload = Secrets(request), upload_of(request.body)
    call = Call(request.timeout, request.signal)
    failure: Optional[BaseException] = None
    try:
        call.check()
        return _reply(_send(session, request, upload, call), call, secrets)
    except BodyFailed:
        pass
    except LIBRARY_ERRORS as error:
        failure = error
    except BaseException:
        call.abandon()
        raise
    call.abandon()
    if isinstance(upload, Upload) and upload.error is not None:
        raise upload.error
    raise error_for(failure, call, secrets)


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse what requests or http.client would quote in an error of theirs, secrets included."""
    for name, value in headers.items():
        if _UNFIT.search(name) or _UNFIT.search(value):
            raise InvalidArgumentError(
                f"header {name!r} has a line break or a character outside Latin-1 in its value"
            )


def _send(session: Any, request: Request, upload: Any, call: Call) -> Any:
    prepared = _prepare(session, request, upload, call)
    settings = _settings(session, prepared.url)
    keep_queries_out_of_logs()
    before = CURRENT.get(None)
    try:
        CURRENT.set(call)  # in here: a Ctrl-C may strike as soon as it is set
        return session.send(
            prepared, allow_redirects=False, timeout=_limits(request.timeout, upload), **settings
        )
    except requests.HTTPError as error:
        if error.response is None:
            raise
        return error.response  # a hook of the user's session raises for status; any is a reply
    finally:
        CURRENT.set(before)  # type: ignore[arg-type]  # None: there was none


def _settings(session: Any, url: str) -> Dict[str, Any]:
    """Proxies and certificates for `url`, of the session and of the environment."""
    settings: Dict[str, Any] = session.merge_environment_settings(url, {}, True, None, None)
    parts = urlsplit(url)
    if parts.scheme == "http" and is_loopback(parts.hostname or ""):
        # HTTP_PROXY is meant for other machines; here it would get the key in plain text.
        settings["proxies"] = dict(session.proxies)
    return settings


def _prepare(session: Any, request: Request, upload: Any, call: Call) -> Any:
    prepared = session.prepare_request(
        requests.Request(
            request.method,
            request.url,
            headers=dict(request.headers),
            data=upload,
            auth=session.auth or _as_it_is,
        )
    )
    # Around those of the user's session.
    prepared.hooks["response"].insert(0, call.note_response)
    prepared.hooks["response"].append(_hide_location)
    return prepared


def _as_it_is(prepared: Any) -> Any:
    """An `auth` that changes nothing: with one given, requests does not look into ~/.netrc."""
    return prepared


def _hide_location(response: Any, **kwargs: Any) -> None:
    # requests would read the body of a redirect in order to prepare a request that nobody wants.
    response.headers = response.headers.copy()
    response.headers.pop("location", None)


def _limits(timeout: Timeout, upload: Any) -> Tuple[Optional[float], Optional[float]]:
    connect, write = timeout.connect, timeout.write
    if isinstance(upload, Upload):
        # For connections that are not ours: requests sends a body under the limit of connect.
        connect = None if connect is None or write is None else max(connect, write)
    return connect, timeout.first_byte


def _reply(response: Any, call: Call, secrets: Secrets) -> RequestsReply:
    sock = None if call.tracked else socket_of(response.raw)
    reply = RequestsReply(response, _lower(response), call, secrets)
    try:
        call.begin_reading(sock)
    except OSError:
        reply.drop()
        raise
    return reply


def _lower(response: Any) -> Dict[str, str]:
    headers = getattr(response.raw, "headers", None) or response.headers
    return {name.lower(): headers[name] for name in headers}  # joined where one comes twice
