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
    )
    from .answers.events import (
        Event as Event,
    )
    from .answers.events import (
        FinalAnswerEvent as FinalAnswerEvent,
    )
    from .answers.events import (
        MessageEvent as MessageEvent,
    )
    from .answers.events import (
        SearchResultsEvent as SearchResultsEvent,
    )
    from .answers.events import (
        ThinkingEvent as ThinkingEvent,
    )
    from .answers.events import (
        ToolCallEvent as ToolCallEvent,
    )
    from .answers.events import (
        ToolResultEvent as ToolResultEvent,
    )
    from .answers.events import (
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
    )
    from .errors import (
        AnswerError as AnswerError,
    )
    from .errors import (
        AnswerFailedError as AnswerFailedError,
    )
    from .errors import (
        AnswerRateLimitError as AnswerRateLimitError,
    )
    from .errors import (
        AnswerTruncatedError as AnswerTruncatedError,
    )
    from .errors import (
        APIError as APIError,
    )
    from .errors import (
        AuthenticationError as AuthenticationError,
    )
    from .errors import (
        ConfigurationError as ConfigurationError,
    )
    from .errors import (
        ConflictError as ConflictError,
    )
    from .errors import (
        ConnectionLostError as ConnectionLostError,
    )
    from .errors import (
        InvalidArgumentError as InvalidArgumentError,
    )
    from .errors import (
        InvalidRequestError as InvalidRequestError,
    )
    from .errors import (
        KnowledgeError as KnowledgeError,
    )
    from .errors import (
        MalformedEventError as MalformedEventError,
    )
    from .errors import (
        NotFoundError as NotFoundError,
    )
    from .errors import (
        NotSentError as NotSentError,
    )
    from .errors import (
        PermissionDeniedError as PermissionDeniedError,
    )
    from .errors import (
        ProcessingError as ProcessingError,
    )
    from .errors import (
        ProcessingTimeoutError as ProcessingTimeoutError,
    )
    from .errors import (
        RateLimitError as RateLimitError,
    )
    from .errors import (
        RequestTimeoutError as RequestTimeoutError,
    )
    from .errors import (
        ServerError as ServerError,
    )
    from .errors import (
        TooLargeError as TooLargeError,
    )
    from .errors import (
        TransportError as TransportError,
    )
    from .errors import (
        UnexpectedResponseError as UnexpectedResponseError,
    )
    from .models.answers import (
        Answer as Answer,
    )
    from .models.answers import (
        Chunk as Chunk,
    )
    from .models.answers import (
        Citation as Citation,
    )
    from .models.answers import (
        PartialAnswer as PartialAnswer,
    )
    from .models.answers import (
        Source as Source,
    )
    from .models.answers import (
        ToolCall as ToolCall,
    )
    from .models.answers import (
        Usage as Usage,
    )
    from .models.documents import (
        Document as Document,
    )
    from .models.documents import (
        DocumentStatus as DocumentStatus,
    )
    from .models.files import (
        File as File,
    )
    from .models.libraries import (
        Library as Library,
    )
    from .models.libraries import (
        Share as Share,
    )
    from .settings import (
        Settings as Settings,
    )
    from .transports import (
        Body as Body,
    )
    from .transports import (
        Reply as Reply,
    )
    from .transports import (
        Request as Request,
    )
    from .transports import (
        Timeout as Timeout,
    )
    from .transports import (
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
    "models.documents": (
        "Document",
        "DocumentStatus",
    ),
    "models.files": ("File",),
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
