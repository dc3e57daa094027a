"""What the tests of the rooms share: exact scripted replies, and what went out for them."""

from __future__ import annotations

from typing import Any, List, Tuple
from urllib.parse import parse_qsl

from mistral_knowledge import FakeTransport, KnowledgeClient, Retry
from mistral_knowledge.transports.fake import Scripted

ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"
OTHER = "1c3c2d2f-6a4b-4b68-8d54-4f4a6e2a8b21"

# Ids that would change the path, or that are none.
EVIL_IDS: List[Any] = [
    "../files",
    "a/b",
    "a%2Fb",
    "a?b=c",
    "a#b",
    "a\\b",
    "..",
    ".",
    "a..b",
    "",
    " ",
    "a b",
    "a\n",
    "é",
    "a;b",
    None,
    5,
    b"abc",
    ["a"],
    object(),
]


def scripted(*script: Scripted) -> KnowledgeClient:
    """A client that gets exactly these replies; each further request fails the test."""
    return KnowledgeClient(transport=FakeTransport(script=script), retries=Retry(2, backoff=0))


def answering(*payloads: Any, status: int = 200) -> KnowledgeClient:
    """A client that gets these JSON bodies, one a request."""
    return scripted(*(Scripted(status, json=payload) for payload in payloads))


def records(client: KnowledgeClient) -> List[Any]:
    """The requests that the client made."""
    transport: Any = client._caller.transport
    return transport.requests  # type: ignore[no-any-return]


def sent(client: KnowledgeClient) -> List[Tuple[str, str]]:
    """(method, path) of each request."""
    return [(record.method, record.path) for record in records(client)]


def queries(client: KnowledgeClient) -> List[List[Tuple[str, str]]]:
    """The query of each request, in order."""
    return [parse_qsl(record.query, keep_blank_values=True) for record in records(client)]


def parts(client: KnowledgeClient, number: int = 0) -> List[Tuple[Any, ...]]:
    """(name, file name, type, value or size) of each part of a multipart request, in order."""
    return [
        (part.name, part.filename, part.content_type, part.size if part.filename else part.value)
        for part in records(client)[number].parts
    ]


def all_closed(client: KnowledgeClient) -> bool:
    """Whether every reply was read to its end or closed."""
    return all(record.reply_closed for record in records(client))
