"""Who may ask: with a token whoever sends it, without one this machine, and no page but its own.

Whoever asks spends the key's money and reads the libraries. A browser sends what any page tells
it to: to a name that was bound to 127.0.0.1 a moment ago, or from another site.
"""

from __future__ import annotations

import hmac
import ipaddress
from typing import Mapping, Optional, Sequence
from urllib.parse import urlsplit

from .._secrets import key_problem
from ..errors import InvalidArgumentError
from .problems import Problem

SHORTEST_TOKEN = 8

_FORWARDED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_VIA")


def checked_token(token: Optional[str]) -> Optional[str]:
    """The token, if it can be sent in a header; InvalidArgumentError else, without showing it."""
    if token is None:
        return None
    problem = key_problem(token) if token else "it is empty"
    if not problem and len(token) < SHORTEST_TOKEN:
        problem = f"it is shorter than {SHORTEST_TOKEN} characters, and could be guessed"
    if problem:
        raise InvalidArgumentError(f"the relay's token cannot be used: {problem}")
    return token


def checked_origins(cors: Sequence[str]) -> Sequence[str]:
    """Origins as browsers send them; InvalidArgumentError for what is none, `*` included."""
    if isinstance(cors, str):
        raise InvalidArgumentError("cors= is a list of origins")
    for origin in cors:
        parts = urlsplit(origin)
        if f"{parts.scheme}://{parts.netloc}" != origin or not parts.netloc:
            raise InvalidArgumentError(
                f"cors={origin!r}: an origin is a scheme and a host, as https://app.example"
            )
    return tuple(cors)


class Guard:
    """Decides about one WSGI environment after the other."""

    def __init__(self, token: Optional[str], origins: Sequence[str]) -> None:
        self._token = token
        self._origins = origins

    def check(self, environ: Mapping[str, str]) -> None:
        """Raise Problem 401 or 403 for a caller who may not ask."""
        if self._token is not None:
            return self._check_token(self._token, environ)
        if any(name in environ for name in _FORWARDED) or not is_loopback(
            environ.get("REMOTE_ADDR", "")
        ):
            raise _forbidden("without a token only this machine may ask: start it with one")
        if not is_loopback(_host_of(environ.get("HTTP_HOST", ""))):
            raise _forbidden("without a token it is asked as localhost or 127.0.0.1")
        origin = environ.get("HTTP_ORIGIN")
        if origin is not None and not self.allows(origin) and not _is_own(origin, environ):
            raise _forbidden("pages of other sites may not ask: name them in cors=")
        return None

    def allows(self, origin: Optional[str]) -> bool:
        """Whether pages of this origin may call from a browser."""
        return origin in self._origins

    def _check_token(self, token: str, environ: Mapping[str, str]) -> None:
        kind, _, bearer = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        sent = [environ.get("HTTP_X_API_KEY", ""), bearer if kind.lower() == "bearer" else ""]
        same = [hmac.compare_digest(_bytes(one.strip()), _bytes(token)) for one in sent]
        if not any(same):
            raise Problem(
                401,
                "a token is needed: Authorization: Bearer ... or x-api-key",
                "AuthenticationError",
                {"WWW-Authenticate": "Bearer"},
            )


def is_loopback(host: str) -> bool:
    """Whether an address or a name is this machine's own."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _is_own(origin: str, environ: Mapping[str, str]) -> bool:
    own = f"{environ.get('wsgi.url_scheme', 'http')}://{environ.get('HTTP_HOST', '')}"
    return origin.lower() == own.lower()


def _host_of(header: str) -> str:
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _forbidden(message: str) -> Problem:
    return Problem(403, message, "PermissionDeniedError")
