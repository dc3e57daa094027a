"""What went wrong in requests, urllib3, http.client, ssl or the socket, in words of ours."""

from __future__ import annotations

import socket
import sys
from http.client import HTTPException
from typing import List, Optional, Tuple, Type

from requests.exceptions import ConnectTimeout, ReadTimeout, RequestException
from urllib3 import exceptions as urllib3_errors

from ..errors import ConnectionLostError, KnowledgeError, RequestTimeoutError
from ._call import Call
from ._failures_connect import NOT_CONNECTED, names_missing_file, not_sent
from ._scrub import Secrets, chain_of, scrub

LIBRARY_ERRORS: Tuple[Type[BaseException], ...] = (
    RequestException,
    urllib3_errors.HTTPError,
    HTTPException,
    OSError,  # sockets and ssl
)
# Not urllib3's ConnectTimeoutError: a refused connection is one of its children.
_TIMEOUTS = (socket.timeout, ConnectTimeout, ReadTimeout, urllib3_errors.ReadTimeoutError)

_TIMED_OUT = {
    "connect": "no connection to {host} within {seconds:g} s",
    "write": "{host} took no more of the request for {seconds:g} s",
    "first_byte": "no answer from {host} within {seconds:g} s",
    "idle": "nothing more came from {host} for {seconds:g} s",
}
_LOST = {
    "write": "the connection to {host} broke while the request was sent",
    "first_byte": "the connection to {host} broke before the answer came",
    "idle": "the answer from {host} broke off",
}


def error_for(failure: Optional[BaseException], call: Call, secrets: Secrets) -> KnowledgeError:
    """What a call ends with: what stopped it, or what `failure` means, which is scrubbed.

    To be called behind the `except` block: what is handled then is what the caller was handling
    before; it ends the chain of `failure`, and is left as it is.
    """
    chain = chain_of(failure, sys.exc_info()[1])
    if call.stopped or failure is None:
        error = call.error()
    else:
        error = _explain(chain, call, secrets)
        error.__cause__ = failure
    scrub(chain, secrets)  # also where it is not chained: its frames hold the request, and itself
    return error


def _explain(chain: List[BaseException], call: Call, secrets: Secrets) -> KnowledgeError:
    phase = call.phase if call.tracked or call.phase == "idle" else _phase_of(chain)
    if any(isinstance(error, _TIMEOUTS) for error in chain):
        return _timed_out(phase, call, secrets.host)
    if phase == "connect":
        return not_sent(chain, secrets)
    words = _LOST[phase].format(host=secrets.host)
    reason = secrets.hide(str(chain[-1]))[:200]
    return ConnectionLostError(f"{words}: {reason}" if reason else words)


def _timed_out(phase: str, call: Call, host: str) -> RequestTimeoutError:
    seconds = getattr(call.timeout, phase)
    if seconds is None:  # not our limit: that of a user's session or of the system
        words = f"{host} was silent for too long"
    else:
        words = _TIMED_OUT[phase].format(host=host, seconds=seconds)
    return RequestTimeoutError(f"{words} (timeout.{phase})", phase, phase != "connect")


def _phase_of(chain: List[BaseException]) -> str:
    """The phase in which a connection that is not ours failed, from what was raised."""
    kinds = tuple(type(error) for error in chain)
    if any(issubclass(kind, (ReadTimeout, urllib3_errors.ReadTimeoutError)) for kind in kinds):
        return "first_byte"
    if any(issubclass(kind, NOT_CONNECTED) for kind in kinds) or names_missing_file(chain):
        return "connect"
    return "write" if any(issubclass(kind, socket.timeout) for kind in kinds) else "first_byte"
