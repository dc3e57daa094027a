"""Connections that tell the call which uses them what they do, so that it can be ended and timed.

requests and urllib3 stay in charge; only the four moments at which a connection can block are ours:
making it, TLS included, sending a block, waiting for the head, reading.
"""

from __future__ import annotations

import http.client
import io
import socket
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Dict, Iterator, List, Tuple, Union

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, LocationParseError, NewConnectionError
from urllib3.util import SKIP_HEADER

from ._call import CURRENT, Call
from ._connecting import open_socket

BLOCK = 256 * 1024
_INTERIM = (102, 103)


def socket_options() -> List[Tuple[int, int, Union[int, bytes]]]:
    """urllib3's own options and TCP keepalive: a dead peer is noticed after about two minutes."""
    options = list(HTTPConnection.default_socket_options)
    options.append((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1))
    idle = "TCP_KEEPIDLE" if hasattr(socket, "TCP_KEEPIDLE") else "TCP_KEEPALIVE"  # macOS
    for name, value in ((idle, 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


class _TimedReader(io.RawIOBase):
    """Reads a socket's file within the limits of the call: dripping bytes do not extend them."""

    def __init__(self, raw: Any, sock: Any, call: Call) -> None:
        super().__init__()
        self._raw = raw
        self._sock = sock
        self._call = call

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        self._call.limit(self._sock)
        count = self._raw.readinto(buffer)
        if not count and self._call.phase == "first_byte":
            # http.client would take half a head for a whole one.
            raise http.client.RemoteDisconnected("the connection ended before its head did")
        return count

    def close(self) -> None:
        super().close()
        self._raw.close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        fp: Any = self.fp
        self.fp = io.BufferedReader(_TimedReader(fp.detach(), sock, CURRENT.get()))

    def begin(self) -> None:
        super().begin()
        while self.status in _INTERIM:  # http.client skips 100 only
            self.headers = self.msg = None  # type: ignore[assignment]
            super().begin()


class _Tracked(HTTPConnection):
    response_class = _Response

    def _new_conn(self) -> Any:
        call = CURRENT.get()
        try:
            return open_socket(
                call, (self._dns_host, self.port), self.source_address, self.socket_options
            )
        except UnicodeError:
            raise LocationParseError(self.host) from None
        except socket.timeout as error:
            raise ConnectTimeoutError(self, "timed out") from error
        except OSError as error:
            raise NewConnectionError(self, str(error)) from error

    def connect(self) -> None:
        call = CURRENT.get()
        call.tracked, call.connection = True, self
        call.enter("connect")
        try:
            super().connect()
            call.note(self.sock)
        finally:
            call.release_spare()

    def send(self, data: Any) -> None:
        call = CURRENT.get()
        if self.sock is None and self.auto_open:
            self.connect()
        if not call.connecting:  # else it speaks to a proxy, and the limit is that of connecting
            call.tracked, call.connection, call.phase = True, self, "write"
            call.note(self.sock)
        for block in _blocks(data):
            if not call.connecting:
                self.sock.settimeout(call.timeout.write)
            super().send(block)

    def getresponse(self) -> Any:
        call = CURRENT.get()
        call.check()
        call.enter("first_byte")
        return super().getresponse()


class _TrackedTLS(_Tracked, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Tracked


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TrackedTLS


POOLS: Dict[str, Any] = {"http": _Pool, "https": _TLSPool}


class Adapter(HTTPAdapter):
    """requests' own adapter, with our connections and without headers of its own."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, socket_options=socket_options(), **kwargs)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        if proxy.lower().startswith("socks"):
            return super().proxy_manager_for(proxy, **kwargs)
        manager = super().proxy_manager_for(proxy, socket_options=socket_options(), **kwargs)
        manager.pool_classes_by_scheme = POOLS
        return manager

    def close(self) -> None:
        """Close the idle connections now; urllib3 2 leaves that to the garbage collector."""
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 - it cannot be iterated over
                pool = manager.pools.get(key)
                if pool is not None:
                    pool.close()
        super().close()

    def add_headers(self, request: Any, **kwargs: Any) -> None:
        request.headers.setdefault("Connection", "keep-alive")
        for name in ("User-Agent", "Accept-Encoding"):
            request.headers.setdefault(name, SKIP_HEADER)


def new_session(pool_size: int) -> requests.Session:
    """A session without headers and cookies of its own, over connections of ours."""
    session = requests.Session()
    session.headers.clear()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # no state between calls
    adapter = Adapter(pool_maxsize=pool_size, max_retries=0)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def _blocks(data: Any) -> Iterator[Any]:
    if len(data) <= BLOCK:
        return iter((data,))
    view = memoryview(data)
    return (view[start : start + BLOCK] for start in range(0, len(view), BLOCK))
