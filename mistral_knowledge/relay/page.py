"""The page and its two files."""

from __future__ import annotations

import os
from typing import Dict, Tuple

from werkzeug.wrappers import Response

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")

FILES: Dict[str, Tuple[str, str]] = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}

# Nothing runs or loads but the page's own files, whatever an answer says.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_reply(path: str) -> Response:
    """The file that `path`, one of `FILES`, names."""
    name, kind = FILES[path]
    with open(os.path.join(_FOLDER, name), "rb") as file:
        reply = Response(file.read(), content_type=kind)
    reply.headers["Content-Security-Policy"] = POLICY
    reply.headers["Cache-Control"] = "no-cache"
    return reply
