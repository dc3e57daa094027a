"""The relay's replies over HTTP, and the headers that all of them have."""

from __future__ import annotations

import re
from typing import Any, Sequence

from werkzeug.wrappers import Request, Response

from ._json import wire_json
from .body import EventBody
from .guard import Guard
from .problems import Problem

IGNORED = "X-Relay-Ignored"
_NAME = re.compile(r"[\w.]{1,60}\Z", re.ASCII)
_MOST_NAMES = 30


def json(value: Any, ignored: Sequence[str] = (), status: int = 200) -> Response:
    """A JSON reply."""
    reply = Response(wire_json(value), status, content_type="application/json")
    return _with_ignored(reply, ignored)


def stream(body: EventBody, ignored: Sequence[str]) -> Response:
    """A stream of events; nothing on its way may keep it back."""
    reply = Response(body, content_type="text/event-stream; charset=utf-8")
    reply.headers["X-Accel-Buffering"] = "no"
    return _with_ignored(reply, ignored)


def problem(told: Problem) -> Response:
    """An error, in R2R's shape."""
    reply = json(told.body(), status=told.status)
    reply.headers.update(told.headers)
    return reply


def preflight(request: Request, guard: Guard) -> Response:
    """What a browser asks before a page of another origin may call."""
    if not guard.allows(request.headers.get("Origin")):
        raise Problem(403, "pages of other sites may not ask", "PermissionDeniedError")
    reply = Response(status=204)
    reply.headers["Access-Control-Allow-Methods"] = "POST"
    reply.headers["Access-Control-Allow-Headers"] = "content-type, authorization, x-api-key"
    reply.headers["Access-Control-Max-Age"] = "600"
    return reply


def finish(reply: Response, request: Request, guard: Guard) -> None:
    """The headers that every reply has."""
    reply.headers.setdefault("Cache-Control", "no-store")
    reply.headers["X-Content-Type-Options"] = "nosniff"
    reply.headers["Referrer-Policy"] = "no-referrer"
    origin = request.headers.get("Origin")
    if origin is not None and guard.allows(origin):
        reply.headers["Access-Control-Allow-Origin"] = origin
        reply.headers["Access-Control-Expose-Headers"] = f"{IGNORED}, Retry-After"
        reply.headers["Vary"] = "Origin"


def _with_ignored(reply: Response, ignored: Sequence[str]) -> Response:
    # The names come from outside: only what is harmless in a header goes into one.
    names = [one.partition(":")[0] for one in ignored]
    plain = [name for name in names if _NAME.match(name)][:_MOST_NAMES]
    if plain:
        reply.headers[IGNORED] = ", ".join(plain)
    return reply
