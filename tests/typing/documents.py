"""What a type checker knows of files, libraries, documents and what comes with them."""

# pyright: strict

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path
from typing import List, Mapping, Optional, assert_type

from mistral_knowledge import (
    AbortedError,
    AbortSignal,
    APIError,
    Document,
    DocumentStatus,
    FakeTransport,
    File,
    KnowledgeClient,
    Library,
    ProcessingError,
    RateLimitError,
    Reply,
    Request,
    RequestsTransport,
    Retry,
    SignedUrl,
    SyncReport,
    Timeout,
    Transport,
    UploadOutcome,
)


def clients() -> List[KnowledgeClient]:
    def key() -> Optional[str]:
        return None

    one = KnowledgeClient("key", timeout=30, retries=Retry(5, backoff=1))
    two = KnowledgeClient(key, transport=FakeTransport())
    three = KnowledgeClient(transport=RequestsTransport(), timeout=Timeout(total=9))
    with KnowledgeClient() as four:
        return [one, two, three, assert_type(four.with_options(retries=0), KnowledgeClient)]


def files(client: KnowledgeClient) -> None:
    file = client.files.upload("paper.pdf", purpose="ocr")
    assert_type(file, File)
    assert_type(client.files.download(file), bytes)
    client.files.download(file, Path("copy.pdf"), timeout=9)
    assert_type(client.files.signed_url(file, expiry=1), SignedUrl)
    for each in client.files.list():
        assert_type(each, File)


def libraries(client: KnowledgeClient) -> Library:
    assert_type(client.libraries.find("Papers"), Optional[Library])
    assert_type(client.libraries.sync("papers", "id-1", dry_run=True), SyncReport)
    return assert_type(client.libraries.get_or_create("Papers"), Library)


def documents(client: KnowledgeClient, library: Library, signal: AbortSignal) -> None:
    for file in (b"text", io.BytesIO(b"text"), ("a.txt", "text"), Path("a.txt")):
        client.documents.upload(library, file, name="a.txt")
    document = client.documents.upload(library, "paper.pdf", wait=True, signal=signal)
    assert_type(document, Document)
    assert_type(document.created_at, Optional[datetime])
    assert_type(client.documents.status(document), DocumentStatus)
    assert_type(client.documents.text("id-1", "id-2"), str)
    assert_type(list(client.documents.list("id-1")), List[Document])
    for page in client.documents.list(library).pages():
        assert_type(page, List[Document])
    for outcome in client.documents.upload_many(library, "folder"):
        assert_type(outcome, UploadOutcome)


def failures(client: KnowledgeClient) -> Optional[float]:
    try:
        client.libraries.get("id-1")
    except RateLimitError as error:
        return assert_type(error.retry_after, Optional[float])
    except APIError as error:
        assert_type(error.status, Optional[int])
    except ProcessingError as error:
        assert_type(error.document, Optional[Document])
    except AbortedError as error:
        print(error.reason)
    return None


class Own:
    """A transport by anybody; what it need not inherit is checked by its shape."""

    needs_key = False

    def send(self, request: Request) -> Reply:
        assert_type(request.method, str)
        return OwnReply()

    def close(self) -> None:
        pass


class OwnReply:
    @property
    def status(self) -> int:
        return 204

    @property
    def headers(self) -> Mapping[str, str]:
        return {}

    def __iter__(self) -> io.BytesIO:
        return io.BytesIO()

    def close(self) -> None:
        pass


OWN: Transport = Own()


def mistakes(client: KnowledgeClient) -> None:
    """Each line is refused; a checker that let one pass would find its ignore unneeded."""
    client.files.download("id-1", paht="x")  # type: ignore[call-overload]  # pyright: ignore
    client.files.download("id-1", timeuot=5)  # type: ignore[call-overload]  # pyright: ignore
    client.documents.get("id-1", "id-2", retires=5)  # type: ignore[call-arg]  # pyright: ignore
    client.documents.upload("id-1")  # type: ignore[call-arg]  # pyright: ignore
    KnowledgeClient("key", "https://example.org")  # type: ignore[call-arg]  # pyright: ignore
    KnowledgeClient(transport=OwnReply())  # type: ignore[arg-type]  # pyright: ignore
