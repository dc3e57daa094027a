"""Making a TCP connection in such a way that it can be ended from outside at any moment."""

from __future__ import annotations

import errno
import os
import socket
from typing import Any, Optional, Tuple

from urllib3.util.connection import allowed_gai_family
from urllib3.util.wait import wait_for_write

from ._call import Call

_UNDER_WAY = (errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EINTR)


def open_socket(call: Call, address: Tuple[str, Any], source: Any, options: Any) -> Any:
    """A connected socket: the host's addresses are tried in turn within the call's limit.

    Raises socket.gaierror, socket.timeout or OSError.
    """
    host, port = address
    found = socket.getaddrinfo(host.strip("[]"), port, allowed_gai_family(), socket.SOCK_STREAM)
    failure: Optional[OSError] = None
    for index, (family, kind, proto, _, target) in enumerate(found):
        call.check()
        try:
            # Each address gets its part of the time, so that a silent one leaves some to the next.
            return _open_one(
                call, (family, kind, proto), target, (source, options), len(found) - index
            )
        except OSError as error:
            failure = error
    try:
        raise failure or OSError("no address found")
    finally:
        failure = None  # else the error's traceback and this frame hold each other


def _open_one(call: Call, kind: Tuple[int, int, int], target: Any, extras: Any, share: int) -> Any:
    sock = socket.socket(*kind)
    try:
        source, options = extras
        for option in options or ():
            sock.setsockopt(*option)
        if source:
            sock.bind(source)
        call.note_spare(sock)
        call.limit(sock, share)
        _connect(call, sock, target)
        call.limit(sock)
    except BaseException:
        call.release_spare()
        sock.close()
        raise
    return sock


def _connect(call: Call, sock: Any, target: Any) -> None:
    # `sock.connect` checks and starts in one step: an abort just before it would shut down a socket
    # that is not connecting yet, and be lost. So it is started first, and checked after.
    seconds = sock.gettimeout()
    sock.setblocking(False)
    code = sock.connect_ex(target)
    call.check()
    if code in _UNDER_WAY:
        if not wait_for_write(sock, seconds):
            raise socket.timeout("timed out")
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        call.check()
    if code:
        raise OSError(code, os.strerror(code))
    sock.settimeout(seconds)
