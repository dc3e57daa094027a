"""Times as the API writes them."""

from __future__ import annotations

import datetime


def iso(seconds: float) -> str:
    """Unix time as ISO 8601 with microseconds and `Z`."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
