"""Pages of lists: by number, and by token."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Dict, Optional

import attr

from .call import Call
from .problems import invalid, issue

# Of names that contain what is searched, in whatever case; LIKE would refuse a long text.
NAMED = "instr(lower({}), lower(?)) > 0"


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Page:
    """Which part of a list is asked for, counted from page 0."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        """How many items come before it."""
        return self.number * self.size

    def info(self, total: int) -> Dict[str, Any]:
        """The `pagination` object of a list of `total` items."""
        return {
            "total_items": total,
            "total_pages": -(-total // self.size),
            "current_page": self.number,
            "page_size": self.size,
            "has_more": self.offset + self.size < total,
        }


def page_of(call: Call, largest: Optional[int] = 100) -> Page:
    """The page that `page` and `page_size` ask for."""
    size = call.number("page_size", 100, 1, largest)
    return Page(call.number("page", 0) or 0, size or 100)


def token_after(seq: int) -> str:
    """The `next_page_token` that goes on behind the row `seq`."""
    return base64.urlsafe_b64encode(f"after:{seq}".encode()).decode()


def seq_of_token(token: str) -> int:
    """The row that a token goes on behind; 422 if it is none of ours."""
    try:
        word, _, seq = base64.urlsafe_b64decode(token.encode()).decode().partition(":")
        if word == "after":
            return min(int(seq), 2**62)
    except (ValueError, binascii.Error):
        pass
    raise invalid([issue(["query", "page_token"], "value_error", "Invalid page token", token)])
