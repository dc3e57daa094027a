"""Documents: what a library holds and questions find (`/v1/libraries/{id}/documents`).

https://docs.mistral.ai/api/#tag/beta.libraries.documents
"""

from __future__ import annotations

import contextlib
import datetime
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

import attr

from .._caller import Call, Caller, Options, Query
from .._checks import callables, mappings, number, numbers, refuse, switches, texts
from .._json import read_json
from .._multipart import MultipartBody, OnProgress
from .._secrets import SignedUrl
from .._uploads import FileInput, open_upload
from ..errors import InvalidArgumentError, UnexpectedResponseError
from ..models._convert import parse
from ..models.documents import Document, DocumentStatus
from ..models.libraries import Library
from ..transports import Reply
from ._arguments import CallOptions, DocumentRef, LibraryRef, document_ids, given, id_of
from ._download import signed_url_of
from ._folder import Path, Pattern, files_of
from ._listing import Listing, Page, items_of, next_number
from ._progress import with_bar, with_status
from ._upload_many import checked_workers, gated, uploader
from ._upload_run import OnFiles, UploadRun
from ._wait import OnStatus, wait_until_processed

if TYPE_CHECKING:
    from ._arguments import Unpack

# Where a document is named, a Document alone will do: it knows its library.
LibraryOrDocument = Union[LibraryRef, Document]


class Documents:
    """`client.documents`. Every method also takes `timeout=`, `retries=` and `signal=`.

    A document is named by its library and itself (objects or ids), or by a Document alone.
    In endpoints, `...` stands for `/v1/libraries/{library_id}`.
    All raise TransportError, APIError and its children, AbortedError, ConfigurationError.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def upload(
        self,
        library: LibraryRef,
        file: FileInput,
        *,
        wait: Union[bool, float] = False,
        name: Optional[str] = None,
        mime_type: Optional[str] = None,
        on_progress: Optional[OnProgress] = None,
        progress: bool = False,
        **options: Unpack[CallOptions],
    ) -> Document:
        """Upload a document into a library (`POST .../documents`; processing is billed).

        file: a path, bytes with `name=`, a binary file object, or (name, content[, mime type])
        wait: True to return once it is processed (up to 300 s), or the seconds to wait
        on_progress: called as `on_progress(sent, total)`, in bytes
        progress: show a bar, on stderr or in the notebook, where the [notebook] extra is there

        `document.created` says whether it is new (True) or the same content was already there
        (False). Safe to repeat for that reason: a lost reply never makes two.
        Raises InvalidArgumentError, what `open` raises for a path, and with `wait` also
        ProcessingError and ProcessingTimeoutError.
        """
        seconds = seconds_to_wait(wait)
        path = f"{_library_path(library)}/documents"
        with open_upload(file, name, mime_type) as upload, with_bar(
            progress, upload.name, "B", on_progress
        ) as told:
            body = MultipartBody([], upload, told)
            call = Call("POST", path, body=body, repeatable=True)
            status, payload = self._caller.status_and_json(call, Options(**options))
        document = _in_library(library, parse(Document, payload))
        document.created = status == 201
        if seconds is None:
            return document
        done = self.wait(library, document, seconds=seconds, progress=progress, **options)
        return attr.evolve(done, created=document.created)

    def upload_many(
        self,
        library: LibraryRef,
        files: Union[Path, Iterable[Path]],
        *,
        workers: int = 8,
        pattern: Pattern = None,
        wait: Union[bool, float] = False,
        on_progress: Optional[OnFiles] = None,
        progress: bool = False,
        **options: Unpack[CallOptions],
    ) -> UploadRun:
        """Upload many files at once; gives an `UploadOutcome` for each as it is done.

        Each is an `upload` (`POST .../documents`; processing is billed).

        files: a folder (its files and those of its subfolders, named by their path within it,
            with `/`), or paths of files, which are read only as they are needed
        workers: how many are uploaded at once, 1 to 100
        pattern: which files of a folder count, such as `**/*.md`, or several in a list
        wait: as in `upload`, for each file
        on_progress: called as `on_progress(done, total)`, in files; total is None where it is not
            known
        progress: show a bar, as in `upload`
        timeout, retries: for each upload; signal: stops all of it

        One failure never stops the rest. When the server asks one upload to wait (429), all wait.
        Raises InvalidArgumentError; the rest comes as outcomes, or while they are read: see
        `UploadRun`.
        """
        library_id, _ = id_of(library, Library), seconds_to_wait(wait)
        workers, _ = checked_workers(workers), Options(**options)
        found, total = files_of(files, pattern)
        signal = options.pop("signal", None)
        upload = uploader(type(self)(gated(self._caller, options)), library_id, wait, options)
        callables(on_progress=on_progress)
        shown = contextlib.ExitStack()
        told = shown.enter_context(with_bar(progress, "upload", " files", on_progress))
        return UploadRun(upload, found, workers, signal, told, total, shown.close)

    def list(
        self,
        library: LibraryRef,
        *,
        search: Optional[str] = None,
        sort_by: Optional[str] = None,
        sort_order: Optional[str] = None,
        filters_attributes: Optional[str] = None,
        page_size: int = 100,
        **options: Unpack[CallOptions],
    ) -> Listing[Document]:
        """All documents of a library (`GET .../documents`); lazily, page by page.

        search: in the name; sort_by: `created_at` (the server's default) or another field;
        sort_order: `desc` (the server's default) or `asc`; page_size: items a request, 1 to 100
        """
        path = f"{_library_path(library)}/documents"
        asked = texts(
            search=search,
            sort_by=sort_by,
            sort_order=sort_order,
            filters_attributes=filters_attributes,
        )
        query: Query = [("page_size", number("page_size", page_size, 1)), *asked.items()]
        opts = Options(**options)

        def fetch(page: int) -> Page[Document]:
            payload = self._caller.json(Call("GET", path, query=[("page", page), *query]), opts)
            items = [_in_library(library, item) for item in items_of(payload, Document)]
            return Page(items, next_number(payload, page))

        return Listing(fetch, 0)

    def get(
        self,
        library: LibraryOrDocument,
        document: Optional[DocumentRef] = None,
        **options: Unpack[CallOptions],
    ) -> Document:
        """One document's metadata (`GET .../documents/{id}`)."""
        call = Call("GET", _path(library, document))
        return _in_library(library, parse(Document, self._caller.json(call, Options(**options))))

    def status(
        self,
        library: LibraryOrDocument,
        document: Optional[DocumentRef] = None,
        **options: Unpack[CallOptions],
    ) -> DocumentStatus:
        """How far its processing is (`GET .../documents/{id}/status`)."""
        call = Call("GET", f"{_path(library, document)}/status")
        return parse(DocumentStatus, self._caller.json(call, Options(**options)))

    def wait(
        self,
        library: LibraryOrDocument,
        document: Optional[DocumentRef] = None,
        *,
        seconds: float = 300.0,
        on_status: OnStatus = None,
        progress: bool = False,
        **options: Unpack[CallOptions],
    ) -> Document:
        """Wait until a document is processed, and return it (`GET .../documents/{id}`).

        seconds: how long at most; the deadline holds even while a poll hangs
        on_status: called with the Document after each poll
        progress: show the status and the time, as in `upload`

        Polls in growing intervals (0.5 s to 10 s); a few transient failures and an
        early 404 are borne, a status that this version does not know means that it still runs.
        Raises ProcessingError where it failed, ProcessingTimeoutError after `seconds`.
        """
        ids = document_ids(library, document)
        with with_status(progress, f"document {ids[1]}", on_status) as told:
            return wait_until_processed(self, ids, seconds, told, options)

    def text(
        self,
        library: LibraryOrDocument,
        document: Optional[DocumentRef] = None,
        *,
        page_start: Optional[int] = None,
        page_end: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> str:
        """The text that was extracted from it (`GET .../documents/{id}/text_content`).

        page_start, page_end: only these pages
        """
        query = [*numbers(0, page_start=page_start, page_end=page_end).items()]
        call = Call("GET", f"{_path(library, document)}/text_content", query=query)
        payload = self._caller.json(call, Options(**options))
        text = payload.get("text") if isinstance(payload, Mapping) else None
        if not isinstance(text, str):
            raise UnexpectedResponseError("expected a document's text, got another shape")
        return text

    def signed_url(
        self,
        library: LibraryOrDocument,
        document: Optional[DocumentRef] = None,
        *,
        extracted_text: bool = False,
        **options: Unpack[CallOptions],
    ) -> SignedUrl:
        """A URL that opens the document for whoever holds it, for 30 minutes.

        extracted_text: of its text rather than the original

        `GET .../documents/{id}/signed-url` and `.../extracted-text-signed-url`.
        """
        switches(extracted_text=extracted_text)
        kind = "extracted-text-signed-url" if extracted_text else "signed-url"
        call = Call("GET", f"{_path(library, document)}/{kind}")
        return self._caller.run(call, Options(**options), lambda reply, _: _signed_url(reply))

    def reprocess(
        self,
        library: LibraryOrDocument,
        document: Optional[DocumentRef] = None,
        **options: Unpack[CallOptions],
    ) -> None:
        """Process it again, which is billed again (`POST .../documents/{id}/reprocess`)."""
        call = Call("POST", f"{_path(library, document)}/reprocess")
        self._caller.json(call, Options(**options))

    def update(
        self,
        library: LibraryOrDocument,
        document: Optional[DocumentRef] = None,
        *,
        name: Optional[str] = None,
        attributes: Optional[Mapping[str, Any]] = None,
        expires_at: Optional[datetime.datetime] = None,
        **options: Unpack[CallOptions],
    ) -> Document:
        """Change its name, metadata or expiry (`PATCH .../documents/{id}`).

        attributes: your own metadata: text, numbers, booleans, datetimes and lists of them
        expires_at: when it is to be deleted by itself
        """
        if expires_at is not None and not isinstance(expires_at, datetime.date):
            refuse("expires_at", expires_at, "a datetime")
        named = {**texts(name=name), **mappings(attributes=attributes)}
        body = given(**named, expires_at=expires_at)
        if not body:
            raise InvalidArgumentError("nothing to update: give name=, attributes= or expires_at=")
        call = Call("PATCH", _path(library, document), json=body)
        return _in_library(library, parse(Document, self._caller.json(call, Options(**options))))

    def delete(
        self,
        library: LibraryOrDocument,
        document: Optional[DocumentRef] = None,
        **options: Unpack[CallOptions],
    ) -> None:
        """Delete it (`DELETE .../documents/{id}`)."""
        self._caller.json(Call("DELETE", _path(library, document)), Options(**options))


def _library_path(library: LibraryRef) -> str:
    return f"/v1/libraries/{id_of(library, Library)}"


def _path(library: LibraryOrDocument, document: Optional[DocumentRef]) -> str:
    library_id, document_id = document_ids(library, document)
    return f"/v1/libraries/{library_id}/documents/{document_id}"


def _in_library(library: LibraryOrDocument, document: Document) -> Document:
    """The document, knowing its library also where the reply did not say it."""
    if document.library_id is None:
        known = library.library_id if isinstance(library, Document) else id_of(library, Library)
        document.library_id = known
    return document


def seconds_to_wait(wait: Union[bool, float]) -> Optional[float]:
    """The seconds that `wait=` means, or None for not to wait."""
    if isinstance(wait, bool):
        return 300.0 if wait else None
    if isinstance(wait, (int, float)) and wait > 0:
        return float(wait)
    raise InvalidArgumentError(f"wait={wait!r}: give True, False, or seconds above 0")


def _signed_url(reply: Reply) -> SignedUrl:
    """The URL in a body that is a JSON string, or the bare URL."""
    body = b"".join(reply).decode("utf-8-sig", "replace").strip()
    url = _unquoted(body) if body.startswith('"') else body
    return signed_url_of(url)


def _unquoted(body: str) -> str:
    try:
        return str(read_json(body))
    except ValueError:
        return ""
