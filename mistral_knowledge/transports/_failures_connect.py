"""Why no connection was made, and what the user can do about it."""

from __future__ import annotations

import socket
import ssl
from typing import Any, List, Optional

from requests import exceptions as requests_errors
from urllib3 import exceptions as urllib3_errors

from ..errors import ConfigurationError, InvalidArgumentError, KnowledgeError, NotSentError
from ._scrub import Secrets

_PROXY = (requests_errors.ProxyError, urllib3_errors.ProxyError)
_TLS = (ssl.SSLError, urllib3_errors.SSLError, requests_errors.SSLError)
_SETTING = (requests_errors.InvalidProxyURL, requests_errors.InvalidSchema)
_UNUSABLE = (
    requests_errors.InvalidURL,
    requests_errors.MissingSchema,
    requests_errors.InvalidHeader,
    urllib3_errors.LocationValueError,
)
_SEE_PROXY = "check HTTPS_PROXY, HTTP_PROXY, NO_PROXY"
NOT_CONNECTED = (
    requests_errors.ConnectTimeout,
    urllib3_errors.NewConnectionError,
    socket.gaierror,
    *_PROXY,
    *_TLS,
    *_SETTING,
    *_UNUSABLE,
)


def not_sent(chain: List[BaseException], secrets: Secrets) -> KnowledgeError:
    """The error for a request that never left."""
    host, reason = secrets.host, secrets.hide(_reason(chain))
    if names_missing_file(chain):
        return ConfigurationError(f"{reason}: correct REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE")
    if _first(chain, _SETTING):
        return ConfigurationError(f"no connection to {host}: {reason}; {_SEE_PROXY}, base_url")
    if _first(chain, _UNUSABLE):
        return InvalidArgumentError(f"the request to {host} cannot be sent: {reason}")
    if _first(chain, _PROXY) or "Tunnel connection failed" in reason:
        return NotSentError(f"the proxy did not connect to {host}: {reason}; {_SEE_PROXY}")
    if _first(chain, _TLS):
        return NotSentError(_tls_words(chain, host, reason))
    if _first(chain, socket.gaierror):
        return NotSentError(f"no address found for {host} ({reason}): check the name, the network")
    return NotSentError(f"no connection to {host}: {reason}")


def names_missing_file(chain: List[BaseException]) -> bool:
    """Whether a certificate file is not where a setting says; requests has no class for that."""
    return any("invalid path: " in str(error) for error in chain)


def _tls_words(chain: List[BaseException], host: str, reason: str) -> str:
    refused: Any = _first(chain, ssl.SSLCertVerificationError)
    if refused is None:
        return f"no TLS connection to {host}: {reason}"
    return (
        f"the TLS certificate of {host} was not accepted: {refused.verify_message}; behind a proxy "
        "that opens TLS, set REQUESTS_CA_BUNDLE to the file of its CA"
    )


def _reason(chain: List[BaseException]) -> str:
    """The words of the error closest to the cause."""
    for error in chain:
        words = error.strerror if isinstance(error, OSError) else None
        if words:
            return str(words)
    return str(chain[-1]) or type(chain[-1]).__name__


def _first(chain: List[BaseException], kinds: Any) -> Optional[BaseException]:
    return next((error for error in chain if isinstance(error, kinds)), None)
