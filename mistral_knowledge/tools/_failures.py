"""What a model is told when a call did not work, and what of it goes into logs."""

from __future__ import annotations

import uuid
from typing import Any, Dict, Iterable, Mapping

from .._secrets import redact
from ..errors import (
    APIError,
    AuthenticationError,
    KnowledgeError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    TransportError,
)
from ._arguments import BadArgumentsError
from .result import ToolResult, error_result

_LONGEST_NAME = 100

# The first that fits; a model can act on these, a person has to act on the others.
_ADVICE = (
    (NotFoundError, "Check the ids: mistral_library_list and mistral_document_list give them."),
    (AuthenticationError, "The key of this application is not accepted: tell the user."),
    (PermissionDeniedError, "This application may not do that: tell the user."),
    (RateLimitError, "Wait a while before you try again."),
    (RequestTimeoutError, "It took too long; you may try again later."),
)


def unknown(name: str, known: Iterable[str]) -> ToolResult:
    """The result of a call of a tool that is not there."""
    words = f"there is no tool {name[:_LONGEST_NAME]!r}; there are: {', '.join(known)}"
    return error_result(redact(words), {})


def misused(name: str, params: Any, error: BadArgumentsError) -> ToolResult:
    """The result of a call whose arguments do not fit."""
    problems = "\n".join(f"- {problem}" for problem in error.problems)
    words = f"{name} was not run, its arguments do not fit:\n{problems}"
    return error_result(redact(words), {**_details(name, params), "error": "BadArgumentsError"})


def aborted(name: str, params: Any) -> ToolResult:
    """The result of a call that its caller ended; what had come of an answer is not told."""
    words = f"{name} was stopped before it was done."
    details = {**_details(name, params), "error": "AbortedError", "aborted": True}
    return error_result(words, details)


def failed(name: str, params: Any, error: KnowledgeError) -> ToolResult:
    """The result of a call that the API refused, or that did not get through."""
    words = [f"{name} failed: {redact(str(error)).rstrip('.')}."]
    words += [advice for kind, advice in _ADVICE if isinstance(error, kind)][:1]
    if isinstance(error, TransportError) and error.maybe_executed:
        words.append("It may have been carried out all the same: look before you try again.")
    details = {**_details(name, params), "error": type(error).__name__}
    return error_result(" ".join(words), {**details, **_status(error)})


def _status(error: KnowledgeError) -> Dict[str, Any]:
    if not isinstance(error, APIError):
        return {}
    told = {"http_status": error.status, "code": error.code, "request_id": error.request_id}
    return {name: value for name, value in told.items() if value is not None}


def _details(name: str, params: Any) -> Dict[str, Any]:
    """The tool and the ids it was called with; of what a model sends, only what surely is an id."""
    ids: Dict[str, Any] = {}
    for key, value in params.items() if isinstance(params, Mapping) else ():
        if key in ("library_id", "document_id") and _are_ids([value]):
            ids[key] = value
        if key == "library_ids" and isinstance(value, list) and _are_ids(value):
            ids[key] = value
    return {"tool": name, **ids}


def _are_ids(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) and _is_uuid(value) for value in values)


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
