"""What a tool gives back: a part for the model, one for programs, one for logs."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Union

import attr

from .._secrets import redact
from ..models.answers import PartialAnswer, Usage

_LONGEST = 200  # characters of the content in a repr


def _utf8(value: Any) -> Any:
    """Text without unpaired surrogates: they cannot go out to a host or a model."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {name: _utf8(one) for name, one in value.items()}
    return [_utf8(one) for one in value] if isinstance(value, list) else value


def _shown(details: Mapping[str, Any]) -> Dict[str, Any]:
    """What a server says of itself may hold a URL."""
    return {
        name: redact(value) if isinstance(value, str) else value
        for name, value in _utf8(dict(details)).items()
    }


@attr.s(auto_attribs=True, frozen=True, slots=True, repr=False)
class ToolResult:
    """The result of a tool call.

    content: text for the model to read; of an error it begins with `Error:`
    structured_content: the same for a program, valid against the tool's `output_schema`; None for
        an error and for a partial result
    details: for logs and transcripts: identifiers and status, never a secret or a signed URL. The
        keys: `tool`; `library_id`, `document_id`, `file_id`, `library_ids`; `status`; of an error
        also `error`, `http_status`, `code`, `request_id`, `aborted`; `partial`
    is_error: whether the call failed
    usage: the tokens of a query, None where there are none

    A signed URL is in `content` and `structured_content["url"]` only. The repr hides its query.
    """

    _content: Union[str, PartialAnswer]
    structured_content: Optional[Dict[str, Any]] = attr.ib(default=None, converter=_utf8)
    details: Dict[str, Any] = attr.ib(factory=dict, converter=_shown)
    is_error: bool = False
    usage: Optional[Usage] = None

    @property
    def content(self) -> str:
        """What the model reads; the text of a partial result is joined when this is read."""
        text = self._content if isinstance(self._content, str) else self._content.text
        return str(_utf8(text))

    def __repr__(self) -> str:
        text = redact(self.content)
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        return f"ToolResult({text!r}, is_error={self.is_error}, details={self.details!r})"


# Called with partial results, while the final one is being made.
OnUpdate = Callable[[ToolResult], Any]


def error_result(words: str, details: Mapping[str, Any]) -> ToolResult:
    """A result that tells the model what went wrong."""
    return ToolResult(f"Error: {words}", details=details, is_error=True)
