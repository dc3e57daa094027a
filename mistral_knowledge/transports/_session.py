"""The session of the requests transport: nothing of its own on the wire, connections of ours."""

from __future__ import annotations

import queue
import socket
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Dict, List, Optional, Tuple, Union

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util import SKIP_HEADER

from ._connections import Tracked, TrackedTLS


def socket_options() -> List[Tuple[int, int, Union[int, bytes]]]:
    """urllib3's own options and TCP keepalive: a dead peer is noticed after about two minutes."""
    options = list(HTTPConnection.default_socket_options)
    options.append((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1))
    idle = "TCP_KEEPIDLE" if hasattr(socket, "TCP_KEEPIDLE") else "TCP_KEEPALIVE"  # macOS
    for name, value in ((idle, 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


class _Idle:
    """The idle connections of a pool, last in, first out, without the lock of `queue.LifoQueue`.

    A Ctrl-C or a fork at the wrong moment leaves that lock taken for ever, and a signal handler
    that closes a reply would wait for it. `pop` and `append` are atomic by themselves.
    """

    def __init__(self, maxsize: int) -> None:
        self._maxsize = maxsize
        self._items: List[Any] = []

    def get(self, block: bool = False, timeout: Optional[float] = None) -> Any:
        try:
            return self._items.pop()
        except IndexError:
            raise queue.Empty from None

    def put(self, item: Any, block: bool = False, timeout: Optional[float] = None) -> None:
        if len(self._items) >= self._maxsize:
            raise queue.Full
        self._items.append(item)

    def qsize(self) -> int:
        return len(self._items)


class _Pool(HTTPConnectionPool):
    ConnectionCls = Tracked
    QueueCls: Any = _Idle


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = TrackedTLS
    QueueCls: Any = _Idle


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
