"""The transport over `requests`: see `RequestsTransport`.

Nothing heavy is imported here. requests, urllib3 and ssl come with the first request, so that
`gevent.monkey.patch_all()` may still run after this module was imported.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Optional

from ..errors import ConfigurationError
from . import Reply, Request

__all__ = ["RequestsTransport"]


class RequestsTransport:
    """Sends requests with the `requests` library.

    session: a `requests.Session` of yours, with its proxies, certificates and adapters. It is used
        as it is and never closed. Without one the transport keeps a session of its own for each
        process, so that a fork never shares a connection; cookies are off.
    pool_size: idle connections that are kept for each host, with a session of its own (default 100)

    Proxies and CA bundles from the environment are honoured, but no proxy for plain http to the
    machine itself; ~/.netrc is not; redirects come back as they are. One transport serves many
    threads. With your own session, an abort ends the reading of a reply at once, but the wait for
    its head only when its limit is over.
    """

    needs_key = True

    def __init__(self, session: Optional[Any] = None, *, pool_size: int = 100) -> None:
        self._given = session
        self._given_in = os.getpid()
        self._pool_size = pool_size
        self._own: Dict[int, Any] = {}

    def send(self, request: Request) -> Reply:
        """Send `request`, and return when status and headers of the reply are in.

        Raises the children of `TransportError`, what `request.signal` says once it is aborted, and
        `ConfigurationError` for proxy or certificate settings that cannot work.
        """
        from ._exchange import exchange

        return exchange(self._session(), request)

    def close(self) -> None:
        """Close the idle connections that this process made; a session of yours stays open."""
        session = self._own.pop(os.getpid(), None)
        if session is not None:
            session.close()

    def __reduce__(self) -> Any:
        if self._given is not None:
            raise TypeError(
                "a RequestsTransport with a requests.Session of yours cannot be pickled: the "
                "session has connections, and perhaps passwords and certificates, of this process. "
                "Make the session and the client in each process, or give no session"
            )
        if type(self) is not RequestsTransport:
            raise TypeError(f"a {type(self).__name__} cannot be pickled: give it a __reduce__")
        return RequestsTransport, (), {"_pool_size": self._pool_size}

    def _session(self) -> Any:
        if self._given is not None:
            return self._checked(self._given)
        process = os.getpid()
        session = self._own.get(process)
        if session is None:
            from ._session import new_session

            # Sessions of parent processes stay in the dict, untouched: closing them here would
            # do harm there. Two threads may make one at once; the first one put in is used.
            session = self._own.setdefault(process, new_session(self._pool_size))
        return session

    def _checked(self, session: Any) -> Any:
        if os.getpid() == self._given_in:
            return session
        raise ConfigurationError(
            "this process was forked after its requests.Session was given to RequestsTransport: "
            "make a session and a transport in each process, or give none"
        )
