"""urllib3 logs each path with its query; for our calls the query is left out."""

from __future__ import annotations

import logging
from typing import Any

from .._secrets import HIDDEN
from ._call import CURRENT


class _WithoutQueries(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        if CURRENT.get(None) is not None and isinstance(record.args, tuple):
            record.args = tuple(map(_without_query, record.args))
        return True


def _without_query(value: Any) -> Any:
    if not isinstance(value, str) or "?" not in value:
        return value
    return f"{value.partition('?')[0]}?{HIDDEN}"


_FILTER = _WithoutQueries()


def keep_queries_out_of_logs() -> None:
    """Have the queries of our requests hidden; those of other users of urllib3 stay.

    To be called before each request: whoever configures logging may have dropped it.
    """
    logging.getLogger("urllib3.connectionpool").addFilter(_FILTER)
