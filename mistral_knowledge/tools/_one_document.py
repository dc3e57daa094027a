"""What can be done with one document: `mistral_document_signed_url`, `..._reprocess`."""

from __future__ import annotations

import attr

from ._declaring import Declaration, Outcome, Task
from ._documents import DOCUMENT, LIBRARY, DocumentNamed
from ._fields import field

ORIGINAL, EXTRACTED = "original", "extracted_text"


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class DocumentUrl:
    """The arguments of `mistral_document_signed_url`."""

    library_id: str = field(LIBRARY, minLength=1)
    document_id: str = field(DOCUMENT, minLength=1)
    kind: str = field("Of which form.", ORIGINAL, enum=[ORIGINAL, EXTRACTED])


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class UrlOutput:
    """What `mistral_document_signed_url` gives."""

    url: str = field("Opens the document for whoever holds it, until it expires.")
    kind: str = field("Of which form: original or extracted_text.")


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class ReprocessOutput:
    """What `mistral_document_reprocess` gives."""

    library_id: str = field("The id of its library.")
    document_id: str = field("Its id.")


def _signed_url(task: Task, asked: DocumentUrl) -> Outcome:
    signed = task.client.documents.signed_url(
        asked.library_id,
        asked.document_id,
        extracted_text=asked.kind == EXTRACTED,
        signal=task.signal,
    )
    words = f"Whoever holds this URL can open the document until it expires: {signed.url}"
    details = {"library_id": asked.library_id, "document_id": asked.document_id}
    output = UrlOutput(url=signed.url, kind=asked.kind)
    return Outcome(words, output, {**details, "kind": asked.kind})


def _reprocess(task: Task, asked: DocumentNamed) -> Outcome:
    ids = (asked.library_id, asked.document_id)
    task.client.documents.reprocess(*ids, signal=task.signal)
    words = f"Document {asked.document_id} is processed again; ask mistral_document_status."
    output = ReprocessOutput(library_id=asked.library_id, document_id=asked.document_id)
    return Outcome(words, output, attr.asdict(output))


DOCUMENT_SIGNED_URL = Declaration(
    name="mistral_document_signed_url",
    title="Get a link to a document",
    description="A URL that opens a document, or the text extracted from it, for whoever holds the "
    "URL, until it expires. Give it to nobody but the user.",
    arguments=DocumentUrl,
    output=UrlOutput,
    run=_signed_url,
    read_only=True,
)

DOCUMENT_REPROCESS = Declaration(
    name="mistral_document_reprocess",
    title="Process a document again",
    description="Process a document again, after an error for one. Costs money: it is billed by "
    "the page once more.",
    arguments=DocumentNamed,
    output=ReprocessOutput,
    run=_reprocess,
)
