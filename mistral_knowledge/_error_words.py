"""What a server says when it refuses: one reader for every shape of error body.

Mistral's endpoints, its gateways and proxies use about ten shapes (docs/errors.md lists them).
Only words meant for people are taken: the `input` that a validation error echoes is left out,
because it is the caller's prompt. Pure.
"""

from __future__ import annotations

import re
from typing import Any, List, Mapping, Optional

import attr

from ._json import read_json
from ._secrets import redact

_LONGEST = 2000
_LONGEST_WORD = 200
# What is never closed ends with the text, else each start would search all of it once more.
_HTML_TAG = re.compile(r"<[^<>]*>")
_HTML_INVISIBLE = re.compile(r"(?is)<(script|style|head)\b.*?(?:</\1\s*>|(?=<body\b)|\Z)")


@attr.s(auto_attribs=True, slots=True, frozen=True)
class ErrorWords:
    """A server's words: `message`, its own `code` and `type`, and the `request_id`, where given."""

    message: str = ""
    code: Optional[str] = None
    type: Optional[str] = None
    request_id: Optional[str] = None


def words_of_body(body: bytes) -> ErrorWords:
    """The words in an error body of any shape: JSON, HTML, plain text or nothing.

    Always read as UTF-8, whatever the headers say.
    """
    text = body.decode("utf-8-sig", "replace").strip()
    try:
        payload = read_json(text) if text else None
    except ValueError:
        return ErrorWords(message=_clean(_without_html(text)))
    return words_of(payload)


def words_of(payload: Any) -> ErrorWords:
    """The words in a decoded error body; none in one that is nested without end."""
    try:
        return _read(payload)
    except RecursionError:
        return ErrorWords()


def _read(payload: Any) -> ErrorWords:
    if isinstance(payload, str):
        return ErrorWords(message=_clean(payload))
    if isinstance(payload, list):
        return ErrorWords(message=_clean(_details(payload)))
    if not isinstance(payload, Mapping):
        return ErrorWords()
    inner = payload.get("error")
    outer = ErrorWords(
        message=_clean(_message(payload)),
        code=_word(payload.get("code")) or _word(payload.get("error_code")),
        type=_word(payload.get("type")),
        request_id=_word(payload.get("request_id")),
    )
    return _merged(_read(inner), outer) if inner else outer


def is_error_payload(payload: Mapping[str, Any]) -> bool:
    """Whether a JSON object under a 200 is an error rather than (a piece of) an answer."""
    if payload.get("object") == "error" or payload.get("error"):
        return True
    if "choices" in payload or "outputs" in payload:
        return False
    return "detail" in payload or (
        "message" in payload and not isinstance(payload["message"], Mapping)
    )


def _message(payload: Mapping[str, Any]) -> str:
    for key in ("message", "detail", "reason", "msg"):
        words = _words(payload.get(key))
        if words:
            return words
    return ""


def _words(value: Any) -> str:
    """Words in a `message` or `detail`: a string, a list, an object, or JSON inside a string."""
    if isinstance(value, str):
        return _words_in_string(value)
    if isinstance(value, list):
        return _details(value)
    if isinstance(value, Mapping):
        return _message(value)
    return ""


def _words_in_string(value: str) -> str:
    if value[:1] in "{[":
        try:
            return _words(read_json(value)) or value
        except ValueError:
            return value
    return value


def _details(items: List[Any]) -> str:
    return "; ".join(filter(None, (_detail(item) for item in items)))


def _detail(item: Any) -> str:
    if not isinstance(item, Mapping):
        return _text(item) or ""
    words = _text(item.get("msg")) or _message(item)
    where = item.get("loc")
    place = ".".join(str(part) for part in where) if isinstance(where, list) else ""
    return f"{place}: {words}" if place and words else words or place


def _merged(first: ErrorWords, second: ErrorWords) -> ErrorWords:
    return ErrorWords(
        message=": ".join(filter(None, (first.message, second.message))),
        code=first.code or second.code,
        type=first.type or second.type,
        request_id=first.request_id or second.request_id,
    )


def _text(value: Any) -> Optional[str]:
    if isinstance(value, str):
        return value or None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return None


def _word(value: Any) -> Optional[str]:
    text = _text(value)
    return one_line(text) if text else None


def one_line(text: str) -> str:
    """A server's short word, fit for a message and a log: no line break, no control character."""
    return redact("".join(char for char in text if char.isprintable()))[:_LONGEST_WORD]


def _without_html(text: str) -> str:
    return _HTML_TAG.sub(" ", _HTML_INVISIBLE.sub(" ", text)) if "<" in text else text


def _clean(text: str) -> str:
    return redact(" ".join(text.split()))[:_LONGEST]
