"""A library, and with whom it is shared."""

import datetime
from typing import Any, Dict, Optional

import attr

from ._convert import register, required_text


@register()
@attr.s(auto_attribs=True, slots=True)
class Library:
    """A library of documents (`/v1/libraries`).

    id: its id
    name, description: as given
    nb_documents: how many documents it holds; total_size: their bytes
    owner_id, owner_type: who owns it (`User`, `Workspace`)
    created_at, updated_at: aware datetimes
    raw: the JSON as it came, deprecated fields included
    """

    id: str = attr.ib(validator=required_text)
    name: Optional[str] = None
    description: Optional[str] = None
    nb_documents: Optional[int] = None
    total_size: Optional[int] = None
    owner_id: Optional[str] = None
    owner_type: Optional[str] = None
    created_at: Optional[datetime.datetime] = None
    updated_at: Optional[datetime.datetime] = None
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers and status only: what may go into a log."""
        return {"library_id": self.id, "nb_documents": self.nb_documents}

    def _repr_html_(self) -> str:
        from ..notebook._tables import item_html

        return item_html(self)


@register()
@attr.s(auto_attribs=True, slots=True)
class Share:
    """Who else may use a library (`/v1/libraries/{id}/share`).

    library_id: which library
    share_with_uuid, share_with_type: with whom (`User`, `Workspace` or `Org`)
    role: what they may do, in the server's words (`Viewer`, `Editor`)
    raw: the JSON as it came
    """

    library_id: str = attr.ib(validator=required_text)
    share_with_uuid: Optional[str] = None
    share_with_type: Optional[str] = None
    role: Optional[str] = None
    org_id: Optional[str] = None
    user_id: Optional[str] = None
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers and status only: what may go into a log."""
        return {"library_id": self.library_id, "role": self.role}
