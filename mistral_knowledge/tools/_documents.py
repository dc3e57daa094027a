"""What a library holds: `mistral_document_upload`, `..._list`, `..._status`."""

from __future__ import annotations

import itertools
from typing import List, Optional

import attr

from ._declaring import Declaration, Outcome, Task
from ._fields import field
from ._libraries import LIMIT, SEARCH
from ._outputs import DocumentOutput, listed
from ._uploading import NAME, PATH, TEXT, upload_of

LIBRARY = "The library's id, as mistral_library_list gives it."
DOCUMENT = "The document's id, as mistral_document_list gives it."


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class DocumentUpload:
    """The arguments of `mistral_document_upload`."""

    library_id: str = field(LIBRARY, minLength=1)
    path: Optional[str] = field(PATH, None, minLength=1)
    text: Optional[str] = field(TEXT, None, minLength=1)
    name: Optional[str] = field(NAME, None, minLength=1)


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class DocumentList:
    """The arguments of `mistral_document_list`."""

    library_id: str = field(LIBRARY, minLength=1)
    search: Optional[str] = field(SEARCH, None, minLength=1)
    limit: int = field(LIMIT, 50, minimum=1, maximum=500)


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class DocumentNamed:
    """The arguments of tools that work on one document."""

    library_id: str = field(LIBRARY, minLength=1)
    document_id: str = field(DOCUMENT, minLength=1)


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class UploadedOutput(DocumentOutput):
    """What `mistral_document_upload` gives."""

    created: bool = field("False if the same content was already in the library.")


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class DocumentsOutput:
    """What `mistral_document_list` gives."""

    documents: List[DocumentOutput] = field("The documents, newest first.")
    more: bool = field("Whether there are more than these.")


def _upload(task: Task, asked: DocumentUpload) -> Outcome:
    with upload_of(task.files, asked.path, asked.text, asked.name) as (file, name):
        made = task.client.documents.upload(asked.library_id, file, signal=task.signal)
    told = DocumentOutput.of(asked.library_id, made)
    created = made.created is not False
    output = UploadedOutput(created=created, **attr.asdict(told))
    done = "Uploaded" if created else "The same content was already there, so nothing was added:"
    words = f"{done} {told.name or name} as document {made.id}. {_readiness(told)}"
    return Outcome(words, output, made.log_fields())


def _list(task: Task, asked: DocumentList) -> Outcome:
    listing = task.client.documents.list(
        asked.library_id,
        search=asked.search,
        page_size=min(asked.limit, 100),
        signal=task.signal,
    )
    found = list(itertools.islice(listing, asked.limit + 1))
    shown = [DocumentOutput.of(asked.library_id, one) for one in found[: asked.limit]]
    output = DocumentsOutput(documents=shown, more=len(found) > asked.limit)
    lines = [f"- {one.name} (id {one.document_id}): {one.status}" for one in shown]
    details = {"library_id": asked.library_id, "documents": len(shown), "more": output.more}
    return Outcome(listed("documents", lines, output.more), output, details)


def _status(task: Task, asked: DocumentNamed) -> Outcome:
    ids = (asked.library_id, asked.document_id)
    now = task.client.documents.status(*ids, signal=task.signal)
    document = task.client.documents.get(*ids, signal=task.signal)
    told = DocumentOutput.of(asked.library_id, document)
    if now.status is not None:
        told = attr.evolve(told, status=now.status, ready=now.is_done)
    facts = [f"{told.name} (id {told.document_id}): {told.status}. {_readiness(told)}"]
    facts += [f"Pages: {told.pages}"] if told.pages is not None else []
    facts += [f"Summary: {told.summary}"] if told.summary else []
    return Outcome("\n".join(facts), told, {**document.log_fields(), "status": told.status})


def _readiness(document: DocumentOutput) -> str:
    if document.ready:
        return "Questions find it."
    return "Questions do not find it until mistral_document_status says that it is done."


DOCUMENT_UPLOAD = Declaration(
    name="mistral_document_upload",
    title="Upload a document into a library",
    description="Upload a document into a library, so that questions can be asked of it. "
    "Costs money: its processing is billed by the page. The same content a second time changes "
    "nothing. It can be asked once mistral_document_status says done.",
    arguments=DocumentUpload,
    output=UploadedOutput,
    run=_upload,
    idempotent=True,
)

DOCUMENT_LIST = Declaration(
    name="mistral_document_list",
    title="List documents",
    description="List the documents of a library, with their ids and how far they are processed.",
    arguments=DocumentList,
    output=DocumentsOutput,
    run=_list,
    read_only=True,
    idempotent=True,
)

DOCUMENT_STATUS = Declaration(
    name="mistral_document_status",
    title="Look at a document",
    description="How far a document's processing is, and its metadata: name, size, pages, summary.",
    arguments=DocumentNamed,
    output=DocumentOutput,
    run=_status,
    read_only=True,
    idempotent=True,
)
