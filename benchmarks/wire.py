"""What Mistral's API puts on the wire, for the server to send: chat chunks, documents, a file."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

LIBRARY = "0197a3e6-2d3c-7000-8000-000000000001"
FILE = "0197a3e6-2d3c-7000-8000-000000000002"

_NOW = "2025-10-09T08:53:20.123456Z"
_PADDING = "abcdefghijklmnopqrstuvwxyz0123456789"


def words(events: int) -> List[str]:
    """The pieces of text that `events` chunks carry."""
    return [f" word{number % 97}" for number in range(events)]


def stream(pieces: List[str]) -> List[bytes]:
    """The events of an answer: one for each piece of text, the end mark, `[DONE]`."""
    events = [chunk(piece, number) for number, piece in enumerate(pieces)]
    return [*events, chunk("", 0, "stop"), b"data: [DONE]\n\n"]


def chunk(text: str, number: int, finish_reason: Optional[str] = None) -> bytes:
    """One event of a chat completion, padding included; usage comes with the finish_reason."""
    payload: Dict[str, Any] = {
        "id": "cmpl-7c1f3a5e9b2d4f60",
        "object": "chat.completion.chunk",
        "created": 1760000000,
        "model": "mistral-medium-latest",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish_reason}],
        "p": _PADDING[: number % len(_PADDING)],
    }
    if finish_reason:
        payload["usage"] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return b"data: " + _json(payload) + b"\n\n"


def conversation(pieces: List[str]) -> List[bytes]:
    """The same as the events of a conversation."""
    entry = {"output_index": 0, "id": "msg_1", "content_index": 0, "role": "assistant"}
    about = {"model": "mistral-medium-latest", "agent_id": None, "created_at": _NOW}
    deltas = [_named("message.output.delta", {**about, **entry, "content": one}) for one in pieces]
    started = _named("conversation.response.started", {"conversation_id": "conv_1", **about})
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return [started, *deltas, _named("conversation.response.done", {**about, "usage": usage})]


def page(items: int) -> bytes:
    """One page of a library's documents, the last one."""
    about = {
        "total_items": items,
        "total_pages": 1,
        "current_page": 0,
        "page_size": items,
        "has_more": False,
    }
    return _json({"pagination": about, "data": [_document(number) for number in range(items)]})


def uploaded(size: int) -> bytes:
    """What the server says about a file that it was sent."""
    return _json(
        {
            "id": FILE,
            "object": "file",
            "bytes": size,
            "created_at": 1760000000,
            "filename": "upload.bin",
            "purpose": "ocr",
            "sample_type": "ocr_input",
            "source": "upload",
        }
    )


def document(number: int) -> bytes:
    """What the server says about a document that it was sent."""
    return _json(_document(number))


def _document(number: int) -> Dict[str, Any]:
    return {
        "id": f"0197a3e6-2d3c-7000-8000-{number:012x}",
        "library_id": LIBRARY,
        "hash": f"{number:032x}",
        "mime_type": "application/pdf",
        "extension": "pdf",
        "size": 100_000 + number,
        "name": f"paper-{number}.pdf",
        "summary": "What the paper is about, in one or two sentences, as the service writes it.",
        "created_at": "2025-10-09T08:53:20.123456Z",
        "last_processed_at": "2025-10-09T08:54:01.654321Z",
        "number_of_pages": 12,
        "process_status": "done",
        "uploaded_by_id": "0197a3e6-2d3c-7000-8000-00000000abcd",
        "uploaded_by_type": "User",
        "tokens_processing_main_content": 10_000,
        "tokens_processing_summary": 500,
        "tokens_processing_total": 10_500,
        "url": None,
        "attributes": {"team": "physics"},
        "expires_at": None,
        "processing_status": "Completed",
    }


def _named(kind: str, fields: Dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), _json({"type": kind, **fields}))


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
