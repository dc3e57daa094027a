"""Every argument of every public method: what it cannot be is refused, before any request."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Iterator, List, Tuple

import pytest

from mistral_knowledge import (
    AbortSignal,
    ConfigurationError,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    Retry,
    Timeout,
)

ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"
FILE = ("a.txt", b"abc")

# What the calls below need; the argument under test takes the place of its own.
NEEDED: Dict[str, Dict[str, Any]] = {
    "files.upload": {"file": FILE},
    "files.list": {},
    "files.get": {"file": ID},
    "files.download": {"file": ID},
    "files.delete": {"file": ID},
    "files.signed_url": {"file": ID},
    "libraries.create": {"name": "Notes"},
    "libraries.list": {},
    "libraries.find": {"name": "Notes"},
    "libraries.get_or_create": {"name": "Notes"},
    "libraries.get": {"library": ID},
    "libraries.update": {"library": ID, "name": "Notes"},
    "libraries.delete": {"library": ID},
    "libraries.shares": {"library": ID},
    "libraries.share": {"library": ID, "share_with": ID},
    "libraries.unshare": {"library": ID, "share_with": ID},
    "libraries.sync": {"folder": ".", "library": ID},
    "documents.upload_many": {"library": ID, "files": ["a.txt"]},
    "documents.upload": {"library": ID, "file": FILE},
    "documents.list": {"library": ID},
    "documents.get": {"library": ID, "document": ID},
    "documents.status": {"library": ID, "document": ID},
    "documents.wait": {"library": ID, "document": ID},
    "documents.text": {"library": ID, "document": ID},
    "documents.signed_url": {"library": ID, "document": ID},
    "documents.reprocess": {"library": ID, "document": ID},
    "documents.update": {"library": ID, "document": ID, "name": "a.txt"},
    "documents.delete": {"library": ID, "document": ID},
    "rag.query": {"question": "Why?", "libraries": ID},
    "rag.stream": {"question": "Why?", "libraries": ID},
    "rag.show": {"question": "Why?", "libraries": ID},
    "rag.agent.show": {"question": "Why?", "libraries": ID},
    "rag.agent.query": {"question": "Why?", "libraries": ID},
    "rag.agent.stream": {"question": "Why?", "libraries": ID},
    "rag.agent.conversations.list": {},
    "rag.agent.conversations.get": {"conversation": "conv_1"},
    "rag.agent.conversations.history": {"conversation": "conv_1"},
    "rag.agent.conversations.messages": {"conversation": "conv_1"},
    "rag.agent.conversations.restart": {
        "conversation": "conv_1",
        "from_entry": "msg_1",
        "question": "Why?",
    },
    "rag.agent.conversations.delete": {"conversation": "conv_1"},
}
ROOMS = ("files", "libraries", "documents", "rag", "rag.agent", "rag.agent.conversations")

# Where these are given, others must not be.
INSTEAD = {
    ("rag", "messages"): "question",
    ("rag.agent", "inputs"): "question",
    ("rag.agent", "agent"): "libraries",
}
SHARED = ("timeout", "retries", "signal")
# Further values that an argument cannot be; none can be an `object()`.
WRONG: Dict[str, List[Any]] = {
    "timeout": ["5", True, 0, -1, float("nan"), [1]],
    "retries": ["x", -1, 1.5, True],
    "signal": [5, "stop", True],
    "workers": ["8", 0, -1, 101, 1.5, True, None],
    "pattern": [5, "", [5], [""], {"a": 1}],
    "files": [5],
    "folder": [5, "none", "a\0b"],
    "delete": ["false", 1],
    "dry_run": ["false", 1],
    "page_size": ["x", 0, -1, 1.5, True, None],
    "seconds": ["5", 0, -1, float("nan"), True, None],
    "wait": ["5", 0, -1, float("nan")],
    "expiry": ["24", 0, 1.5, True],
    "name": [5, b"a.txt"],
    "mime_type": [5, b"a/b", "a\r\nb"],
    "search": [5, ["x"], b"x"],
    "purpose": [5, ["ocr"]],
    "source": [5, "upload", [5], {"upload": 1}],
    "sample_type": [5, "instruct"],
    "mimetypes": [5, "text/plain"],
    "description": [5, ["x"]],
    "libraries": [5, [], {"id": ID}, [5], b"abc"],
    "question": [5, "", "  ", ["Why?"], b"Why?"],
    "messages": [5, "Why?", [], {"role": "user"}, ["Why?"]],
    "inputs": [5, "Why?", [], {"role": "user"}, ["Why?"]],
    "tools": [5, "web_search", {"type": "web_search"}, ["web_search"]],
    "model": [5, b"m", ["m"]],
    "agent": [5],
    "streaming": ["false", 0, 1],
    "store": ["false", 0],
    "code_interpreter": ["false", 1.5],
    "web_search": ["yes", 5],
    "on_update": [5, "print"],
    "on_progress": [5],
    "on_status": [5],
    "progress": ["false", 1],
    "confirm": [True],
    "functions": [5, [print], {"f": 5}, {5: print}],
    "reported_errors": [ValueError, 5, [5], [int]],
    "max_rounds": ["8", -1, True, None],
    "instructions": [5, ["x"]],
    "mode": ["fast", None],
    "metadata": [5, [("a", 1)], {"a": object()}],
    "attributes": [5, [("a", 1)], {"a": object()}],
    "expires_at": [5, "tomorrow"],
    "page_start": ["1", -1, 1.5],
    "page_end": ["1", -1, 1.5],
    "extracted_text": ["false", 1],
    "share_with": [5, None],
    "path": [5, "", "a\0b"],
    "visibility": ["all", 5, None],
    "level": [5],
    "owner_type": [5],
    "org_id": [5],
}


def method_of(client: KnowledgeClient, name: str) -> Callable[..., Any]:
    found: Any = client
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def arguments_of(name: str) -> List[str]:
    client = KnowledgeClient(transport=FakeTransport())
    parameters = inspect.signature(method_of(client, name)).parameters.values()
    named = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
    return sorted({*named, *SHARED})


def cases() -> Iterator[Tuple[str, str, Any]]:
    for name in NEEDED:
        for argument in arguments_of(name):
            for value in (object(), *WRONG.get(argument, ())):
                yield name, argument, value


def test_every_public_method_is_in_the_table() -> None:
    client = KnowledgeClient(transport=FakeTransport())
    found = {
        f"{room}.{name}"
        for room in ROOMS
        for name, value in inspect.getmembers(method_of(client, room), inspect.ismethod)
        if not name.startswith("_")
    }
    assert found == set(NEEDED)


@pytest.mark.parametrize(("name", "argument", "value"), list(cases()))
def test_an_argument_of_the_wrong_kind_is_refused_before_any_request(
    name: str, argument: str, value: Any
) -> None:
    fake = FakeTransport(script=[])
    client = KnowledgeClient(transport=fake, retries=0)
    given = {**NEEDED[name], argument: value}
    given.pop(INSTEAD.get((name.rpartition(".")[0], argument), ""), None)
    with pytest.raises(InvalidArgumentError) as caught:
        method_of(client, name)(**given)
    assert fake.requests == []
    assert str(caught.value)


def test_a_refusal_tells_the_type_and_never_the_value_which_may_be_a_prompt() -> None:
    client = KnowledgeClient(transport=FakeTransport(script=[]))
    with pytest.raises(InvalidArgumentError) as caught:
        client.rag.query(b"my secret plan", libraries=ID)  # type: ignore[arg-type]
    assert str(caught.value) == "question= is a bytes: give text"


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (ConfigurationError, {"base_url": 5}),
        (ConfigurationError, {"base_url": b"https://api.mistral.ai"}),
        (InvalidArgumentError, {"transport": 5}),
        (InvalidArgumentError, {"timeout": "5"}),
        (InvalidArgumentError, {"timeout": True}),
        (InvalidArgumentError, {"retries": "x"}),
        (InvalidArgumentError, {"model": 5}),
        (InvalidArgumentError, {"streaming": "false"}),
        (InvalidArgumentError, {"default_headers": 5}),
        (InvalidArgumentError, {"default_headers": [("a", "b")]}),
        (InvalidArgumentError, {"default_headers": {"a": 5}}),
        (InvalidArgumentError, {"user_agent": 5}),
        (InvalidArgumentError, {"settings": "settings.ini"}),
        (InvalidArgumentError, {"allow_insecure_http": "false"}),
    ],
)
def test_a_client_refuses_arguments_of_the_wrong_kind(error: Any, given: Dict[str, Any]) -> None:
    with pytest.raises(error):
        KnowledgeClient("key", **given)


@pytest.mark.parametrize(
    "given", [{"timeout": "5"}, {"retries": "x"}, {"model": 5}, {"streaming": "false"}]
)
def test_with_options_refuses_them_too(given: Dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        KnowledgeClient("key").with_options(**given)


@pytest.mark.parametrize("seconds", ["5", None, True, [5]])
def test_a_signal_refuses_a_time_that_is_none(seconds: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="seconds="):
        AbortSignal.timeout(seconds)


@pytest.mark.parametrize("signal", [5, "stop", [AbortSignal()]])
def test_a_signal_is_made_of_signals_only(signal: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="signals="):
        AbortSignal.any(signal)


def test_what_fits_is_taken() -> None:
    fake = FakeTransport()
    client = KnowledgeClient(transport=fake, default_headers={"x-one": "1"}, settings=None)
    options: Dict[str, Any] = {
        "timeout": Timeout(total=60),
        "retries": Retry(1),
        "signal": AbortSignal.any(AbortSignal.timeout(60), None),
    }
    client.files.list(source=("upload",), mimetypes=["text/plain"], page_size=1, **options)
    library = client.libraries.get_or_create("Notes", description="", **options)
    client.documents.upload(library, FILE, wait=60.0, on_progress=print, **options)
    assert client.rag.query("What is it?", libraries=iter([library]), tools=(), **options).text
