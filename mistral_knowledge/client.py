"""The client: the only place where the parts are put together."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any, Mapping, Optional, Type, Union
from urllib.parse import urlsplit

from . import _shipping
from ._caller import NOT_GIVEN, Caller, NotGiven, user_agent
from ._checks import mappings, refuse, switches, texts
from ._retry import Retry
from ._secrets import ApiKey, Headers, KeySource, is_loopback
from .errors import ConfigurationError, InvalidArgumentError
from .resources._arguments import RagDefaults
from .resources.documents import Documents
from .resources.files import Files
from .resources.libraries import Libraries
from .resources.rag import Rag
from .settings import Settings
from .transports import Timeout, Transport
from .transports.requests import RequestsTransport

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
# Behind `?` or `#` the paths would get lost; on what a backslash or a blank means, readers differ.
_UNFIT = re.compile(r"[?#\\\s\x00-\x20\x7f]")


class KnowledgeClient:
    """A client of Mistral's knowledge APIs: `files`, `libraries`, `documents` and `rag`.

    api_key: the key, or a function that returns it; else MISTRAL_API_KEY. Read at each call, so a
        client can be made before there is one.
    base_url: default `https://api.mistral.ai`, or MISTRAL_BASE_URL, or the user's settings file
    transport: what carries requests; a `RequestsTransport` by default, a `FakeTransport` offline
    timeout: a `Timeout`, seconds for a whole call, or None for no limit
    retries: how often a request is repeated (default 2), or a `Retry`
    model: which model answers (default `mistral-medium-latest`)
    streaming: whether answers are streamed (default True)
    default_headers: sent with every request
    user_agent: your own words for the User-Agent header, ahead of ours
    settings: a `Settings`; by default the files and the environment of this machine
    allow_insecure_http: send the key over plain http to another machine

    One client serves many threads, and is safe over a fork. It is a context manager; `close()`
    closes the transport only if the client made it. It can be pickled, without the key, if its
    transport can: see docs/scaling-out.md. A copy shares the transport.
    Raises ConfigurationError for settings and InvalidArgumentError for arguments that cannot work.
    """

    def __init__(
        self,
        api_key: KeySource = None,
        *,
        base_url: Optional[str] = None,
        transport: Optional[Transport] = None,
        timeout: Union[Timeout, float, NotGiven, None] = NOT_GIVEN,
        retries: Union[Retry, int, None] = None,
        model: Optional[str] = None,
        streaming: Optional[bool] = None,
        default_headers: Optional[Mapping[str, str]] = None,
        user_agent: Optional[str] = None,
        settings: Optional[Settings] = None,
        allow_insecure_http: bool = False,
    ) -> None:
        texts(model=model, user_agent=user_agent)
        switches(streaming=streaming, allow_insecure_http=allow_insecure_http)
        mappings(default_headers=default_headers)
        if settings is not None and not isinstance(settings, Settings):
            refuse("settings", settings, "a Settings")
        if transport is not None and not callable(getattr(transport, "send", None)):
            refuse("transport", transport, "a Transport")
        settings = settings if settings is not None else Settings.load()
        self._settings = settings
        self._made_transport = transport is None
        self._model = model
        self._streaming = streaming
        transport = transport if transport is not None else RequestsTransport()
        url = _checked_url(base_url or settings.base_url())
        if transport.needs_key and not allow_insecure_http:
            _refuse_plain_http(url)
        limits = settings.timeout()
        self._caller = Caller(
            transport,
            ApiKey(api_key if api_key is not None else settings.api_key),
            url,
            limits if isinstance(timeout, NotGiven) else Timeout.of(timeout, limits),
            Retry.of(settings.retries() if retries is None else retries),
            _headers(default_headers, user_agent),
        )
        self._furnish()

    def with_options(
        self,
        *,
        timeout: Union[Timeout, float, NotGiven, None] = NOT_GIVEN,
        retries: Union[Retry, int, None] = None,
        model: Optional[str] = None,
        streaming: Optional[bool] = None,
    ) -> KnowledgeClient:
        """A client with other options over the same transport, which stays this client's."""
        texts(model=model)
        switches(streaming=streaming)
        other = object.__new__(type(self))
        other._settings = self._settings
        other._made_transport = False
        other._model = model or self._model
        other._streaming = self._streaming if streaming is None else streaming
        mine = self._caller
        other._caller = Caller(
            mine.transport,
            mine.api_key,
            mine.base_url,
            mine.timeout if isinstance(timeout, NotGiven) else Timeout.of(timeout, mine.timeout),
            mine.retry if retries is None else Retry.of(retries),
            mine.headers,
            mine.learned,
        )
        other._furnish()
        return other

    def close(self) -> None:
        """Let go of the connections; a transport that was given stays open, it is its maker's."""
        if self._made_transport:
            self._caller.transport.close()

    def __enter__(self) -> KnowledgeClient:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __copy__(self) -> KnowledgeClient:
        return self.with_options()

    def __deepcopy__(self, memo: Any) -> KnowledgeClient:
        # Connections cannot be doubled; a copy shares them, as one of `with_options` does.
        return self.with_options()

    def __reduce__(self) -> Any:
        mine, settings = self._caller, self._settings.without_address()
        source = mine.api_key.source
        from_environment = source == self._settings.api_key
        state = {
            "settings": settings,
            "key": None if from_environment else _shipping.key_source(source, settings.api_key),
            "transport": _shipping.transport(mine.transport),
            "base_url": mine.base_url,
            "timeout": mine.timeout,
            "retry": mine.retry,
            "headers": dict(_shipping.headers(mine.headers)),
            "model": self._model,
            "streaming": self._streaming,
        }
        return _unpickled, (type(self), state)

    def __repr__(self) -> str:
        return f"<KnowledgeClient {self._caller.base_url}>"

    def _furnish(self) -> None:
        self.files = Files(self._caller)
        self.libraries = Libraries(self._caller)
        self.documents = Documents(self._caller)
        settings, model, streaming = self._settings, self._model, self._streaming
        self.rag = Rag(
            self._caller,
            RagDefaults(
                model=lambda: model or settings.model(),
                streaming=lambda: settings.streaming() if streaming is None else streaming,
            ),
        )


def _unpickled(kind: Type[KnowledgeClient], state: Any) -> KnowledgeClient:
    client = object.__new__(kind)
    client._settings = state["settings"]
    client._made_transport = True
    client._model = state["model"]
    client._streaming = state["streaming"]
    client._caller = Caller(
        state["transport"],
        ApiKey(state["key"] or state["settings"].api_key),
        state["base_url"],
        state["timeout"],
        state["retry"],
        Headers(state["headers"]),
    )
    client._furnish()
    return client


# With these a caller could make one request look like two to a proxy.
_HTTP_ITS_OWN = frozenset({"host", "connection", "content-length", "transfer-encoding"})


def _headers(given: Optional[Mapping[str, str]], own_agent: Optional[str]) -> Headers:
    headers = Headers()
    for name, value in (given or {}).items():
        headers[_checked_name(name)] = _checked_value(name, value)
    own_agent = own_agent or headers.get("user-agent")
    headers["user-agent"] = _checked_value("user-agent", user_agent(own_agent))
    return headers


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or not _HEADER_NAME.match(name):
        raise InvalidArgumentError("default_headers: a name is no header name")
    if name.lower() == "authorization":
        raise InvalidArgumentError("give the key as api_key=, not in default_headers")
    if name.lower() in _HTTP_ITS_OWN:
        raise InvalidArgumentError(f"default_headers: {name} belongs to HTTP itself; leave it out")
    return name.lower()


def _checked_value(name: str, value: str) -> str:
    # The HTTP layer would quote the value, which may be a secret, in an error of its own.
    if not isinstance(value, str):
        raise InvalidArgumentError(f"header {name!r}: its value is no text")
    if any(char in value for char in "\r\n\0"):
        raise InvalidArgumentError(f"header {name!r}: its value contains a line break")
    return value


def _checked_url(url: str) -> str:
    parts = _split(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError("base_url must begin with https:// and name a host")
    if _UNFIT.search(url) or "@" in parts.netloc:
        raise ConfigurationError(
            "base_url must have no user, password, query, fragment, blank or backslash"
        )
    # Paths begin with /v1; many people write it at the end of the address as well.
    trimmed = url.rstrip("/")
    return trimmed[: -len("/v1")] if trimmed.endswith("/v1") else trimmed


def _split(url: str) -> Any:
    if not isinstance(url, str):
        raise ConfigurationError(f"base_url is a {type(url).__name__}: give text")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # it is checked when it is read
    except ValueError:
        raise ConfigurationError("base_url is no address") from None
    return parts


def _refuse_plain_http(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ConfigurationError(
            f"the API key would be sent to {parts.hostname} over plain http, where anyone on the "
            "way can read it: use https, or allow_insecure_http=True if you must"
        )
