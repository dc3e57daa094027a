"""A file of the Files API."""

import datetime
from typing import Any, Dict, Optional

import attr

from ._convert import register, required_text


@register(size="bytes")
@attr.s(auto_attribs=True, slots=True)
class File:
    """A file of the Files API (`/v1/files`).

    id: its id
    filename: the name it was uploaded with
    size: bytes (`bytes` on the wire)
    purpose: what it is for: `ocr`, `batch`, `fine-tune`, or what the server invents
    visibility: `user` (only who uploaded it) or `workspace`
    created_at, expires_at: aware datetimes
    deleted: whether it was deleted, where the endpoint says
    raw: the JSON as it came
    """

    id: str = attr.ib(validator=required_text)
    filename: Optional[str] = None
    size: Optional[int] = None
    purpose: Optional[str] = None
    visibility: Optional[str] = None
    mimetype: Optional[str] = None
    created_at: Optional[datetime.datetime] = None
    expires_at: Optional[datetime.datetime] = None
    sample_type: Optional[str] = None
    source: Optional[str] = None
    num_lines: Optional[int] = None
    signature: Optional[str] = attr.ib(default=None, repr=False)
    deleted: Optional[bool] = None
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers and status only: what may go into a log."""
        return {"file_id": self.id, "visibility": self.visibility, "size": self.size}

    def _repr_html_(self) -> str:
        from ..notebook._tables import item_html

        return item_html(self)
