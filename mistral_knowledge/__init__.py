"""Mistral's Files, Libraries, Documents and RAG, from ordinary synchronous Python.

>>> from mistral_knowledge import KnowledgeClient
>>> from mistral_knowledge.transports.fake import FakeTransport
>>> client = KnowledgeClient(transport=FakeTransport())      # offline: no key, no network
>>> library = client.libraries.create("Notes")
>>> document = client.documents.upload(library, ("sky.txt", "The sky is blue."), wait=True)
>>> answer = client.rag.query("What colour is the sky?", libraries=library)
>>> "blue" in answer.text
True

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any, List

from ._version import __version__

if TYPE_CHECKING:
    from ._retry import (
        Retry as Retry,
    )
    from ._secrets import (
        SignedUrl as SignedUrl,
    )
    from .abort import (
        AbortSignal as AbortSignal,
    )
    from .answers.events import (
        CitationEvent as CitationEvent,
        Event as Event,
        FinalAnswerEvent as FinalAnswerEvent,
        MessageEvent as MessageEvent,
        SearchResultsEvent as SearchResultsEvent,
        ThinkingEvent as ThinkingEvent,
        ToolCallEvent as ToolCallEvent,
        ToolResultEvent as ToolResultEvent,
        UnknownEvent as UnknownEvent,
    )
    from .answers.stream import (
        AnswerStream as AnswerStream,
    )
    from .client import (
        KnowledgeClient as KnowledgeClient,
    )
    from .errors import (
        AbortedError as AbortedError,
        AnswerError as AnswerError,
        AnswerFailedError as AnswerFailedError,
        AnswerRateLimitError as AnswerRateLimitError,
        AnswerTruncatedError as AnswerTruncatedError,
        APIError as APIError,
        AuthenticationError as AuthenticationError,
        ConfigurationError as ConfigurationError,
        ConflictError as ConflictError,
        ConnectionLostError as ConnectionLostError,
        InvalidArgumentError as InvalidArgumentError,
        InvalidRequestError as InvalidRequestError,
        KnowledgeError as KnowledgeError,
        MalformedEventError as MalformedEventError,
        NotFoundError as NotFoundError,
        NotSentError as NotSentError,
        PermissionDeniedError as PermissionDeniedError,
        ProcessingError as ProcessingError,
        ProcessingTimeoutError as ProcessingTimeoutError,
        RateLimitError as RateLimitError,
        RequestTimeoutError as RequestTimeoutError,
        ServerError as ServerError,
        TooLargeError as TooLargeError,
        TransportError as TransportError,
        UnexpectedResponseError as UnexpectedResponseError,
        UploadsAbortedError as UploadsAbortedError,
    )
    from .models.answers import (
        Answer as Answer,
        Chunk as Chunk,
        Citation as Citation,
        PartialAnswer as PartialAnswer,
        Source as Source,
        ToolCall as ToolCall,
        Usage as Usage,
    )
    from .models.conversations import (
        Conversation as Conversation,
        Entry as Entry,
    )
    from .models.documents import (
        Document as Document,
        DocumentStatus as DocumentStatus,
    )
    from .models.files import (
        File as File,
    )
    from .models.folders import (
        SyncReport as SyncReport,
        SyncStep as SyncStep,
        UploadOutcome as UploadOutcome,
    )
    from .models.libraries import (
        Library as Library,
        Share as Share,
    )
    from .resources._upload_run import (
        UploadRun as UploadRun,
    )
    from .settings import (
        Settings as Settings,
    )
    from .transports import (
        Body as Body,
        Reply as Reply,
        Request as Request,
        Timeout as Timeout,
        Transport as Transport,
    )
    from .transports.fake import (
        FakeTransport as FakeTransport,
    )
    from .transports.requests import (
        RequestsTransport as RequestsTransport,
    )

_HOMES = {
    "client": ("KnowledgeClient",),
    "abort": ("AbortSignal",),
    "settings": ("Settings",),
    "_retry": ("Retry",),
    "_secrets": ("SignedUrl",),
    "transports": (
        "Body",
        "Reply",
        "Request",
        "Timeout",
        "Transport",
    ),
    "transports.fake": ("FakeTransport",),
    "transports.requests": ("RequestsTransport",),
    "answers.stream": ("AnswerStream",),
    "answers.events": (
        "CitationEvent",
        "Event",
        "FinalAnswerEvent",
        "MessageEvent",
        "SearchResultsEvent",
        "ThinkingEvent",
        "ToolCallEvent",
        "ToolResultEvent",
        "UnknownEvent",
    ),
    "models.answers": (
        "Answer",
        "Chunk",
        "Citation",
        "PartialAnswer",
        "Source",
        "ToolCall",
        "Usage",
    ),
    "models.conversations": (
        "Conversation",
        "Entry",
    ),
    "models.documents": (
        "Document",
        "DocumentStatus",
    ),
    "models.files": ("File",),
    "models.folders": (
        "SyncReport",
        "SyncStep",
        "UploadOutcome",
    ),
    "resources._upload_run": ("UploadRun",),
    "models.libraries": (
        "Library",
        "Share",
    ),
    "errors": (
        "APIError",
        "AbortedError",
        "AnswerError",
        "AnswerFailedError",
        "AnswerRateLimitError",
        "AnswerTruncatedError",
        "AuthenticationError",
        "ConfigurationError",
        "ConflictError",
        "ConnectionLostError",
        "InvalidArgumentError",
        "InvalidRequestError",
        "KnowledgeError",
        "MalformedEventError",
        "NotFoundError",
        "NotSentError",
        "PermissionDeniedError",
        "ProcessingError",
        "ProcessingTimeoutError",
        "RateLimitError",
        "RequestTimeoutError",
        "ServerError",
        "TooLargeError",
        "TransportError",
        "UnexpectedResponseError",
        "UploadsAbortedError",
    ),
}

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # pinned by a test

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted([*globals(), *_HOME_OF])
