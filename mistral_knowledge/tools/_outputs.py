"""What the tools give back to programs, where several give the same."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import attr

from ..models.documents import Document
from ..models.libraries import Library
from ._fields import field


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class LibraryOutput:
    """A library."""

    id: str = field("Its id.")
    name: Optional[str] = field("Its name.", None)
    description: Optional[str] = field("What it is for.", None)
    documents: Optional[int] = field("How many documents it holds.", None)
    created_at: Optional[str] = field("When it was made (ISO 8601).", None)

    @classmethod
    def of(cls, library: Library) -> LibraryOutput:
        """What is told of a library."""
        return cls(
            id=library.id,
            name=library.name,
            description=library.description,
            documents=library.nb_documents,
            created_at=iso(library.created_at),
        )


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class DocumentOutput:
    """A document of a library."""

    library_id: str = field("The id of its library.")
    document_id: str = field("Its id.")
    name: Optional[str] = field("Its file name.", None)
    status: Optional[str] = field("How far its processing is: done, error, in_progress, ...", None)
    ready: bool = field("Whether questions find it.", False)
    mime_type: Optional[str] = field("Its MIME type.", None)
    size: Optional[int] = field("Its size in bytes.", None)
    pages: Optional[int] = field("How many pages it has.", None)
    summary: Optional[str] = field("What it is about.", None)
    created_at: Optional[str] = field("When it was uploaded (ISO 8601).", None)

    @classmethod
    def of(cls, library_id: str, document: Document) -> DocumentOutput:
        """What is told of a document."""
        return cls(
            library_id=library_id,
            document_id=document.id,
            name=document.name,
            status=document.status,
            ready=document.is_done,
            mime_type=document.mime_type,
            size=document.size,
            pages=document.number_of_pages,
            summary=document.summary,
            created_at=iso(document.created_at),
        )


def iso(moment: Any) -> Optional[str]:
    """A datetime as text."""
    return None if moment is None else str(moment.isoformat())


def listed(what: str, lines: Sequence[str], more: bool) -> str:
    """The lines of a list, and whether it goes on."""
    if not lines:
        return f"There are no such {what}."
    return "\n".join([*lines, *(["There are more."] if more else [])])
