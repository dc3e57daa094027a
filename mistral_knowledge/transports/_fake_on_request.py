"""The faults that `FakeTransport` offers."""

from __future__ import annotations

import json as _json
from typing import Any, Dict, Iterator, Mapping, Optional, Type, Union

from ..errors import ConnectionLostError
from ._fake_faults import Fault, Faults, Spoil
from ._fake_script import Scripted

_WORDS = {
    400: ("Bad Request", "invalid_request_error", None),
    401: ("Unauthorized", "authentication_error", None),
    404: ("Not Found", "invalid_request_error", None),
    429: ("Rate limit exceeded", "rate_limited", "1300"),
}


class FaultsOnRequest:
    """What can be asked to go wrong, each once or a few times."""

    def __init__(self) -> None:
        self._faults = Faults()

    def fail_next(
        self,
        status: int = 503,
        *,
        headers: Optional[Mapping[str, str]] = None,
        json: Any = None,
        error: Union[BaseException, Type[BaseException], None] = None,
        times: int = 1,
        method: Optional[str] = None,
        path: Optional[str] = None,
    ) -> None:
        """Answer the next `times` requests with an error status, or raise `error` from `send`.

        method, path: only requests that fit; a `*` in the path stands for anything.
        """
        reply = _error_reply(status, headers, json) if error is None else Scripted(raises=error)
        self._faults.add(Fault(method, path, times, reply=reply))

    def cut_next(
        self,
        after_bytes: int = 0,
        *,
        clean: bool = False,
        method: Optional[str] = None,
        path: Optional[str] = None,
    ) -> None:
        """Break off the body of the next reply; `clean`: it just ends, without an error."""
        self._faults.add(Fault(method, path, spoil=_cut_after(after_bytes, clean)))

    def error_in_stream_next(
        self,
        message: str = "Internal error",
        code: Any = None,
        type: Optional[str] = "server_error",
        *,
        after_events: int = 2,
        json: Any = None,
        path: Optional[str] = None,
    ) -> None:
        """Put an error into the next event stream, after some events; `json` is another payload."""
        usual = {"object": "error", "message": message, "type": type, "param": None, "code": code}
        spoil = _error_event(usual if json is None else json, after_events)
        self._faults.add(Fault(None, path, spoil=spoil, events_only=True))


def _error_reply(status: int, headers: Optional[Mapping[str, str]], payload: Any) -> Scripted:
    """A reply with an error status; the usual words unless `payload` says others."""
    words, kind, code = _WORDS.get(status, ("The server failed", "server_error", None))
    usual = {"object": "error", "message": words, "type": kind, "param": None, "code": code}
    return Scripted(status, headers or {}, json=usual if payload is None else payload)


def _cut_after(after_bytes: int, clean: bool) -> Spoil:
    """A body that breaks off; `clean`: it just ends, as one without a length does."""

    def spoil(pieces: Iterator[bytes]) -> Iterator[bytes]:
        left = after_bytes
        for piece in pieces:
            if len(piece) >= left:
                yield piece[:left]
                break
            left -= len(piece)
            yield piece
        if not clean:
            raise ConnectionLostError("the connection broke in the middle of the reply")

    return spoil


def _error_event(payload: Dict[str, Any], after_events: int) -> Spoil:
    """A stream in which an error comes after some events; nothing comes behind it."""

    def spoil(pieces: Iterator[bytes]) -> Iterator[bytes]:
        for _, piece in zip(range(after_events), pieces):
            yield piece
        yield f"data: {_json.dumps(payload)}\n\n".encode()

    return spoil
