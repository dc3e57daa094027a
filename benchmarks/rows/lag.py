"""Events of a `Connection: close` body: how long after their bytes they come out, at most."""

from __future__ import annotations

import http.client
import json
import time
from typing import Iterator, List
from urllib.parse import urlsplit

from ..contenders import serving
from ..measuring import Effort, Figure, medians
from ..report import Line, at_most
from ..streaming import Pieces, pieces_by_mistralai, pieces_by_us

EVENTS = 50
EVERY_MS = 10


def run(effort: Effort) -> List[Line]:
    """Milliseconds from the server's write to the caller's loop, for the slowest event."""
    with serving() as server:
        url = f"{server}/paced/{effort.size(EVENTS, 5)}/{EVERY_MS}"
        contenders = {
            "ours": _figure(pieces_by_us(url)),
            "mistralai": _figure(pieces_by_mistralai(url)),
            "floor": _figure(lambda: _at_the_floor(url)),
        }
        found = medians(contenders, effort.times(7))
    line = Line("slowest event of a `Connection: close` body", "ms", **found)
    line.checks.append(at_most(50, line.ours, "within 50 ms", " ms"))
    return [line]


def _figure(pieces: Pieces) -> Figure:
    # Each piece is the time when it was sent; one clock serves all processes of a machine.
    return lambda: 1000 * max(time.time() - float(sent) for sent in pieces())


def _at_the_floor(url: str) -> Iterator[str]:
    """Through http.client, whose `read1` returns what is there."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port)
    connection.request("POST", parts.path, b"{}")
    response = connection.getresponse()
    for line in iter(response.readline, b"data: [DONE]\n"):
        if line.startswith(b"data: "):
            text = json.loads(line[len(b"data: ") :])["choices"][0]["delta"]["content"]
            if text:
                yield text
    response.close()
