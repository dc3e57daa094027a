"""What the official SDK reads out of a reply, ours reads as well; and replies that it rejects."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterator, List, Set, Tuple

import pytest
from mistralai.client import errors

from mistral_knowledge import KnowledgeError

from .equal import NotRead, plain, same
from .operations import OPERATIONS, Operation, World
from .playing import Clients, both_over, events_in
from .test_official_requests import asked_by_them
from .variations import variations

ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"
ANYTHING = World(ID, ID, ID, "conv_1", "msg_1", "ag_1")

# (operations, changes): where the official SDK takes a reply and ours refuses it, or holds another
# value, with the reason. A change that makes no difference any more fails.
LISTED: List[Tuple[str, str, str]] = [
    (
        r"(files|libraries|documents)\.(upload|list|retrieve|create|get|update)"
        r"|conversations\.(list|get)",
        r"(data\.)?(\d+\.)?id = ''",
        "without an id nothing can be done with it",
    ),
    (r"accesses\.(list|update_or_create)", r"(data\.\d+\.)?library_id = ''", "the same"),
    (
        r"\w+\.(get_signed_url|extracted_text_signed_url)",
        r"(url|all) = '(|invented|é.*)'",
        "what is no URL opens nothing",
    ),
    (
        r"(chat|conversations)\..*",
        r"(\S* |)usage(\.(prompt|completion|total)_tokens left out| = \{\})",
        "counts that the server did not say are None, never zeros",
    ),
    (
        r"conversations\.get_(history|messages)",
        r"\w+\.\d+\.(type|role) left out",
        "what the server did not say is None, not the official model's default",
    ),
]


_ENDINGS = ("", "_stream")


def _first_of_each() -> Iterator[Any]:
    """One operation for each kind of reply that is JSON or a stream."""
    # What comes for these looks as it does for conversations.start.
    again = [f"conversations.{verb}{end}" for verb in ("append", "restart") for end in _ENDINGS]
    seen: Set[str] = set()
    for operation in OPERATIONS:
        kind = operation.name.split()[0]
        if kind not in seen and kind not in ("files.download", *again):
            seen.add(kind)
            yield pytest.param(operation, id=kind)


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with both_over() as made:
        yield made


@pytest.mark.parametrize("operation", list(_first_of_each()))
def test_what_the_official_sdk_reads_ours_reads_with_the_same_values(
    operation: Operation, clients: Clients
) -> None:
    exchange = asked_by_them(operation)[0]
    accepted, differing = [], {}
    for what, reply in _replies(exchange.reply):
        clients.player.set(reply, exchange.status)
        try:
            theirs = plain(operation.theirs(clients.official, ANYTHING))
        except (errors.MistralError, NotRead):
            continue
        accepted.append(what)
        try:
            same(plain(operation.ours(clients.ours, ANYTHING)), theirs)
        except (KnowledgeError, AssertionError) as error:
            differing[what] = str(error)
    assert accepted[0] == "as it is"
    expected = {what for what in accepted if _is_listed(operation, what)}
    assert {what: differing[what] for what in differing if what not in expected} == {}
    assert set(differing) == expected


def _replies(body: bytes) -> Iterator[Tuple[str, Any]]:
    if not body:
        yield "as it is", None
    elif body.startswith((b"data:", b"event:")):
        events = events_in(body)
        yield "as it is", events
        for number in _one_of_each_kind(events):
            name, payload = events[number]
            for what, varied in variations(payload):
                yield f"{name} {what}", [*events[:number], (name, varied), *events[number + 1 :]]
    else:
        payload = json.loads(body)
        yield "as it is", payload
        yield from variations(payload)


def _one_of_each_kind(events: List[Tuple[str, Any]]) -> List[int]:
    """The first event of each kind and the last one, of those that are JSON."""
    kinds: Dict[str, int] = {}
    for number, (_, payload) in enumerate(events):
        if isinstance(payload, dict):
            content = payload.get("content")
            kinds.setdefault(f"{payload.get('type')} {type(content).__name__}", number)
            kinds["last"] = number
    return sorted(set(kinds.values()))


def _is_listed(operation: Operation, what: str) -> bool:
    return any(
        re.fullmatch(names, operation.name.split()[0]) and re.fullmatch(changes, what, re.DOTALL)
        for names, changes, _ in LISTED
    )


# Replies that the documentation shows, or that servers gave, and the official SDK does not read.

MESSAGE = {"object": "entry", "type": "message.output", "id": "msg_1", "role": "assistant"}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
FILE = {
    "id": ID,
    "object": "file",
    "created_at": 1759491994,
    "filename": "a.txt",
    "purpose": "ocr",
    "sample_type": "ocr_input",
    "source": "upload",
}
SOURCE = {"type": "tool_reference", "tool": "web_search", "title": "Light", "url": "https://a.test"}


def one_shot(*outputs: Any) -> Any:
    said = {**MESSAGE, "content": "Fast."}
    return {"conversation_id": "conv_1", "outputs": [*outputs, said], "usage": USAGE}


def streamed(*payloads: Any) -> Any:
    started = {"type": "conversation.response.started", "conversation_id": "conv_1"}
    done = {"type": "conversation.response.done", "usage": USAGE}
    return [(one["type"], one) for one in (started, *payloads, done)]


def delta(content: Any) -> Any:
    kind = "message.output.delta"
    return {"type": kind, "output_index": 0, "id": "msg_1", "role": "assistant", "content": content}


def chunk(content: Any, **choice: Any) -> Any:
    told = {"index": 0, "delta": {"content": content}, "finish_reason": "stop", **choice}
    whole = {"id": "c", "model": "m", "choices": [told], "usage": USAGE}
    return [("", whole), ("", "[DONE]")]


EXECUTION = {"type": "tool.execution", "id": "tool_exec_1", "name": "web_search"}
STARTED = {"type": "tool.execution.started", "output_index": 0, "id": "t", "name": "web_search"}
NOT_READ: Dict[str, Tuple[str, Any, Any]] = {
    "a file of unknown size": ("files.retrieve", {**FILE, "bytes": None, "deleted": False}, None),
    "a status in the older form": (
        "documents.status",
        {"document_id": ID, "processing_status": "Running"},
        "in_progress",
    ),
    "a tool execution without arguments": ("conversations.start", one_shot(EXECUTION), "Fast."),
    "an entry of a new type": ("conversations.start", one_shot({"type": "new"}), "Fast."),
    "a list of chunks in a delta": (
        "conversations.start_stream",
        streamed(delta([{"type": "text", "text": "Fast"}, SOURCE, "."])),
        "Fast.",
    ),
    "a started tool without arguments": (
        "conversations.start_stream",
        streamed(STARTED, delta("Fast.")),
        "Fast.",
    ),
    "a source without a title": (
        "conversations.start_stream",
        streamed(delta("Fast."), delta({"type": "tool_reference", "tool": "web_search"})),
        "Fast.",
    ),
    "an event of a new type": (
        "conversations.start_stream",
        streamed({"type": "invented"}, delta("Fast.")),
        "Fast.",
    ),
    "a chunk without a type": ("chat.stream", chunk([{"text": "Fast."}]), "Fast."),
    "a source in a chat": ("chat.stream", chunk(["Fast.", SOURCE]), "Fast."),
    "a chat chunk without its index": ("chat.stream", chunk("Fast.", index=None), "Fast."),
}


@pytest.mark.parametrize("case", list(NOT_READ))
def test_what_the_official_sdk_does_not_read_is_read_here(case: str, clients: Clients) -> None:
    name, reply, expected = NOT_READ[case]
    (operation,) = (one for one in OPERATIONS if one.name == name)
    clients.player.set(reply)
    with pytest.raises((errors.MistralError, NotRead)):
        plain(operation.theirs(clients.official, ANYTHING))
    ours = plain(operation.ours(clients.ours, ANYTHING))
    if isinstance(ours, dict):
        assert ours["text"] == expected
    else:
        assert getattr(ours, "status", None) == expected
