"""What must not be shown, and the types that do not show it.

Redaction sits in the types themselves, so that no log line, repr or traceback has to remember it.
Pure: no environment, clock or socket. The lowest room of the house; it imports nothing of ours.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any, Callable, Dict, Iterable, Optional, Union
from urllib.parse import urlsplit, urlunsplit

HIDDEN = "***"

_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie", "set-cookie"}
)
# No other is shown: what callers name themselves may be a secret too, such as a gateway's token.
_HARMLESS_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "accept-language", "cache-control", "connection"),
        *("content-encoding", "content-length", "content-type", "date", "host", "retry-after"),
        *("server", "transfer-encoding", "user-agent", "vary"),
    }
)
# No part can start again inside another, so that a hostile text costs no more than its length.
_URL_QUERY = re.compile(r"(?<=[^\s?])\?[^\s\"'<>)\]?=&%]*[=&%][^\s\"'<>)\]]*")
_URL_USER = re.compile(r"(?<=://)[^\s/@\"'<>]+@")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[^\s\"',;]+")

KeySource = Union[str, Callable[[], Optional[str]], None]


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without bearer tokens, URL queries, URL passwords and the given `secrets`."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    text = _BEARER.sub(lambda match: f"{match.group(1)} {HIDDEN}", text)
    text = _URL_USER.sub(f"{HIDDEN}@", text)
    return _URL_QUERY.sub(f"?{HIDDEN}", text)


def redact_url(url: str) -> str:
    """`url` without user, password, query and fragment: what may be shown of a signed URL."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return HIDDEN
    query = HIDDEN if parts.query else ""
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


class Headers(Dict[str, str]):
    """Headers; the repr shows only the values of those that are known to be harmless."""

    def __repr__(self) -> str:
        shown = {name: value if is_harmless(name) else HIDDEN for name, value in self.items()}
        return f"Headers({shown!r})"

    __str__ = __repr__

    def without_credentials(self) -> Headers:
        """The same with lower-case names, and without the values that are known to be secret."""
        low = ((name.lower(), value) for name, value in self.items())
        return Headers({name: HIDDEN if is_secret(name) else value for name, value in low})


def is_secret(name: str) -> bool:
    """Whether a header of this name carries credentials."""
    return name.lower() in _SECRET_HEADERS


def is_harmless(name: str) -> bool:
    """Whether the value of a header of this name may be shown."""
    return name.lower() in _HARMLESS_HEADERS


def is_loopback(host: str) -> bool:
    """Whether this host is the machine itself, so that plain http to it shows nothing to anyone."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class SignedUrl:
    """A URL that opens something for whoever holds it.

    `.url` is the URL; `repr()` and `str()` show it without its query, so that it does not end up in
    a log by accident.
    """

    __slots__ = ("url",)

    def __init__(self, url: str) -> None:
        self.url = url

    def __repr__(self) -> str:
        return f"SignedUrl({redact_url(self.url)!r})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SignedUrl) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)


class ApiKey:
    """Where the API key comes from; it is read at each call and never shown.

    `source` is the key, or a callable that returns it (or None), so that a key can rotate.
    """

    __slots__ = ("_source",)

    def __init__(self, source: KeySource) -> None:
        self._source = source

    @property
    def source(self) -> KeySource:
        """The key, or what returns it; for nothing but to find out which."""
        return self._source

    def read(self) -> Optional[str]:
        """The key, without surrounding blanks, or None where there is none."""
        value: Any = self._source() if callable(self._source) else self._source
        if isinstance(value, str):
            return value.strip(" ") or None
        return value  # type: ignore[no-any-return]  # key_problem() says what is wrong with it

    def __repr__(self) -> str:
        return f"ApiKey({HIDDEN})"

    def __reduce__(self) -> Any:
        raise TypeError(
            "an ApiKey is not pickled: pickle the client itself, which leaves its key behind"
        )


def key_problem(value: object) -> Optional[str]:
    """What makes `value` unusable as an API key, in words that do not show it; None if nothing.

    A newline or a non-ASCII character would make the HTTP layer quote the key in its own error.
    """
    if not isinstance(value, str):
        return f"it is a {type(value).__name__}, not text"
    if any(not 33 <= ord(char) <= 126 for char in value):
        return "it contains a blank, a line break or a character outside ASCII"
    return None
