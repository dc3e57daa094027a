"""Every public call, in success and in every failure: nothing secret is shown anywhere.

Secret are the key, the prompt, the bytes of files and the queries of signed URLs. They are looked
for in log records (every logger, at DEBUG), in reprs, and in errors: words, traceback, chain,
attributes, pickle.
"""

from __future__ import annotations

import contextlib
import json
import logging
import pathlib
import pickle
import traceback
import warnings
from typing import Any, Callable, Dict, Iterator, List, Set, Tuple

import pytest

import mistral_knowledge
from mistral_knowledge import (
    FakeTransport,
    KnowledgeClient,
    KnowledgeError,
    NotSentError,
    ProcessingTimeoutError,
    RequestsTransport,
    RequestTimeoutError,
    Timeout,
)
from mistral_knowledge._loopback import Connection, Seen, Server, head
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve
from mistral_knowledge.transports.fake import Cut, Scripted

KEY = "sk-sweep-key-0123456789"
PROMPT = "unicorn-passphrase-in-the-prompt"
CONTENT = "zebra-content-of-the-file"
QUERY = "sig=giraffe-signature"
SIGNED = f"https://files.example/d.pdf?{QUERY}&exp=9"
SECRETS = (KEY, PROMPT, CONTENT, "giraffe-signature")
ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"
PACKAGE = str(pathlib.Path(mistral_knowledge.__file__).parent)

LIMITS = Timeout(connect=5, write=5, first_byte=0.15, idle=0.15)


class Keyed(FakeTransport):
    """A fake that is given the key, as the network is."""

    needs_key = True


def secrets_in(text: str) -> List[str]:
    return [secret for secret in SECRETS if secret in text]


# Where secrets are looked for


class Everything(logging.Handler):
    """Keeps all that a handler could show of a record."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.seen: List[Tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        shown = [record.getMessage(), repr(record.args), repr(vars(record))]
        if record.exc_info:
            shown += traceback.format_exception(*record.exc_info)
        self.seen.append((record.name, "\n".join(shown)))


@pytest.fixture
def log() -> Iterator[Everything]:
    """All records of all loggers while the test runs, each logger at DEBUG."""
    names = ["", "mistral_knowledge", "urllib3", "urllib3.connectionpool", "requests", "sseclient"]
    names.append("mistral_knowledge.fake_api.api")
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    handler = Everything()
    loggers[0].addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield handler
    loggers[0].removeHandler(handler)
    for logger, level in zip(loggers, levels):
        logger.setLevel(level)


def chain_of(error: BaseException) -> List[BaseException]:
    found: List[BaseException] = []
    waiting: List[Any] = [error]
    while waiting:
        item = waiting.pop()
        if isinstance(item, BaseException) and item not in found:
            found.append(item)
            waiting += [item.__cause__, item.__context__, *item.args]
    return found


def inside(value: Any, seen: Set[int], depth: int = 0) -> Iterator[str]:
    """All text in `value` and in what it holds, through attributes and containers."""
    if id(value) in seen or depth > 8:
        return
    seen.add(id(value))
    if isinstance(value, (str, bytes)):
        yield value if isinstance(value, str) else value.decode("latin-1")
        return
    yield repr(value)
    held: List[Any] = []
    if isinstance(value, dict):
        held = [*value, *value.values()]
    elif isinstance(value, (list, tuple, set)):
        held = list(value)
    elif not isinstance(value, (type, int, float, type(None))) and not callable(value):
        held = list(getattr(value, "__dict__", {}).values())
    for item in held:
        yield from inside(item, seen, depth + 1)


def shown_by(error: KnowledgeError) -> Dict[str, str]:
    """Everything that an error shows, by where it shows it."""
    formatted = traceback.format_exception(type(error), error, error.__traceback__)
    texts = {"traceback": "".join(formatted), "pickle": pickle.dumps(error).decode("latin-1")}
    for number, one in enumerate(chain_of(error)):
        texts[f"words of {number}"] = f"{one} {one!r} {one.args!r}"
        own = {name: value for name, value in vars(one).items() if name not in ("partial",)}
        texts[f"attributes of {number}"] = "\n".join(inside(own, set()))
    return texts


def key_in_our_frames(error: BaseException) -> List[str]:
    """Our frames whose variables show the key, as tools that report errors would show them."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    frames: List[Any] = []
    while shown is not None:
        frames += shown.stack
        shown = shown.__cause__ or shown.__context__  # type: ignore[assignment]
    ours = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    return [f"{frame.filename}:{frame.lineno}" for frame in ours if KEY in str(frame.locals)]


# Every public call


def read(stream: Any) -> None:
    with stream:
        for _ in stream:
            pass


def calls() -> Dict[str, Callable[[KnowledgeClient], Any]]:
    pathlib.Path("upload.txt").write_text(CONTENT)
    file = ("a.txt", CONTENT)
    return {
        "files.upload": lambda client: client.files.upload(file),
        "files.upload path": lambda client: client.files.upload("upload.txt"),
        "files.list": lambda client: list(client.files.list()),
        "files.get": lambda client: client.files.get(ID),
        "files.download": lambda client: client.files.download(ID),
        "files.download path": lambda client: client.files.download(ID, "down.bin"),
        "files.signed_url": lambda client: client.files.signed_url(ID),
        "files.delete": lambda client: client.files.delete(ID),
        "libraries.create": lambda client: client.libraries.create("Notes"),
        "libraries.list": lambda client: list(client.libraries.list()),
        "libraries.find": lambda client: client.libraries.find("Notes"),
        "libraries.get_or_create": lambda client: client.libraries.get_or_create("Notes"),
        "libraries.get": lambda client: client.libraries.get(ID),
        "libraries.update": lambda client: client.libraries.update(ID, name="New"),
        "libraries.share": lambda client: client.libraries.share(ID, ID),
        "libraries.shares": lambda client: client.libraries.shares(ID),
        "libraries.unshare": lambda client: client.libraries.unshare(ID, ID),
        "libraries.delete": lambda client: client.libraries.delete(ID),
        "documents.upload": lambda client: client.documents.upload(ID, file),
        "documents.list": lambda client: list(client.documents.list(ID)),
        "documents.get": lambda client: client.documents.get(ID, ID),
        "documents.status": lambda client: client.documents.status(ID, ID),
        "documents.wait": lambda client: client.documents.wait(ID, ID, seconds=0.4),
        "documents.text": lambda client: client.documents.text(ID, ID),
        "documents.signed_url": lambda client: client.documents.signed_url(ID, ID),
        "documents.reprocess": lambda client: client.documents.reprocess(ID, ID),
        "documents.update": lambda client: client.documents.update(ID, ID, name="x"),
        "documents.delete": lambda client: client.documents.delete(ID, ID),
        "rag.query": lambda client: client.rag.query(PROMPT, libraries=ID),
        "rag.query whole": lambda client: client.rag.query(PROMPT, libraries=ID, streaming=False),
        "rag.stream": lambda client: read(client.rag.stream(PROMPT, libraries=ID)),
        "agent.query": lambda client: client.rag.agent.query(PROMPT, libraries=ID),
        "agent.stream": lambda client: read(client.rag.agent.stream(PROMPT, libraries=ID)),
    }


# Success


@contextlib.contextmanager
def over_fake(api: KnowledgeApi) -> Iterator[KnowledgeClient]:
    yield KnowledgeClient(KEY, transport=Keyed(api))


@contextlib.contextmanager
def over_loopback(api: KnowledgeApi) -> Iterator[KnowledgeClient]:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serve(api, "127.0.0.1", 0))
        yield stack.enter_context(KnowledgeClient(KEY, base_url=server.url))


@pytest.mark.parametrize("over", [over_fake, over_loopback])
def test_nothing_secret_is_logged_or_shown_while_all_goes_well(over: Any, log: Everything) -> None:
    shown: List[Any] = []
    queries: List[str] = []
    with KnowledgeApi(api_key=KEY, polls_until_done=0) as api, over(api) as client:
        file = client.files.upload(("a.txt", CONTENT))
        urls = [client.files.signed_url(file)]
        assert client.files.download(file) == CONTENT.encode()
        client.files.download(file, "down.bin")
        shown += [file, *client.files.list(), client.files.get(file), *urls]
        library = client.libraries.get_or_create("Notes")
        share = client.libraries.share(library, ID)
        shown += [share, *client.libraries.shares(library), *client.libraries.list(), library]
        text = f"The {PROMPT} opens the {CONTENT}."
        document = client.documents.upload(library, ("a.txt", text), wait=True)
        urls += [client.documents.signed_url(document)]
        urls += [client.documents.signed_url(document, extracted_text=True)]
        assert CONTENT in client.documents.text(document)
        shown += [document, client.documents.status(document), *client.documents.list(library)]
        shown += [client.documents.update(document, attributes={"secret": PROMPT}), *urls]
        stream = client.rag.stream(f"What does the {PROMPT} open?", libraries=library)
        shown += [stream, stream.partial]
        with stream:
            events = list(stream)
        answers = [stream.get_answer(), client.rag.query(PROMPT, libraries=library)]
        answers.append(client.rag.query(PROMPT, libraries=library, streaming=False))
        cited = [citation for answer in answers for citation in answer.citations]
        assert cited != []
        client.documents.delete(document)
        client.libraries.unshare(library, ID)
        client.libraries.delete(library)
        client.files.delete(file)
        queries += [str(url.url).partition("?")[2] for url in urls]
        queries += [str(citation.url).partition("?")[2] for citation in cited]
        transport: Any = client._caller.transport
        shown += [client, client._caller, *getattr(transport, "requests", [])]
    assert len(log.seen) > 20
    assert all(queries)
    records = "\n".join(text for _, text in log.seen)
    assert [word for word in (KEY, PROMPT, CONTENT, *queries) if word in records] == []
    for thing in shown:
        assert [word for word in (KEY, PROMPT, CONTENT, *queries) if word in repr(thing)] == []
    for thing in [*answers, *events]:  # they show the answer's text, as is their purpose
        assert [word for word in (KEY, *queries) if word in repr(thing)] == []
    fields = [thing.log_fields() for thing in [file, share, library, document, *answers, *cited]]
    assert [word for word in (KEY, PROMPT, CONTENT, *queries) if word in repr(fields)] == []


# Failure: what a server, or the way to it, can do with what it was sent


def unauthorized(seen: Seen) -> Tuple[int, Dict[str, str], bytes]:
    """401, with the key in its words."""
    key = seen.headers["authorization"]
    return 401, {}, json.dumps({"message": f"no such key: {key}, {key[7:]}"}).encode()


def invalid(seen: Seen) -> Tuple[int, Dict[str, str], bytes]:
    """422 that echoes the input, in each of its forms."""
    echo = {"input": seen.body.decode("latin-1"), "ctx": {"given": f"{PROMPT} {SIGNED}"}}
    detail = [{"loc": ["body", "x"], "msg": f"see {SIGNED}", "type": "t", **echo}]
    return 422, {}, json.dumps({"object": "error", "message": {"detail": detail}}).encode()


def html(seen: Seen) -> Tuple[int, Dict[str, str], bytes]:
    """A page in place of JSON, with a link that opens something."""
    return 200, {"content-type": "text/html"}, f"<a href='{SIGNED}'>sign in</a>".encode()


def redirect(seen: Seen) -> Tuple[int, Dict[str, str], bytes]:
    """A redirect to a signed address."""
    return 302, {"location": SIGNED}, b""


def broken(seen: Seen) -> Tuple[int, Dict[str, str], bytes]:
    """JSON that echoes what was sent and then is none."""
    # The first 200 bytes of what should be an answer are shown, for they say what came instead.
    is_answer = seen.target.endswith(("/completions", "/conversations"))
    text = f"{' ' * 200 if is_answer else ''}{CONTENT} {PROMPT} {SIGNED}"
    return 200, {"content-type": "application/json"}, f'{{"text": "{text}'.encode() + seen.body


def failing(seen: Seen) -> Tuple[int, Dict[str, str], bytes]:
    """500 in a proxy's words."""
    return 500, {"content-type": "text/html"}, f"<p>upstream {SIGNED} failed</p>".encode()


def in_stream(seen: Seen) -> Tuple[int, Dict[str, str], bytes]:
    """An error inside an answer."""
    error = {"object": "error", "message": f"tool {SIGNED} failed", "code": "1300"}
    body = f"data: {json.dumps(error)}\n\n".encode()
    return 200, {"content-type": "text/event-stream"}, body


def half_answer(seen: Seen) -> Tuple[int, Dict[str, str], bytes]:
    """An answer that just stops, behind a citation of a signed address."""
    content = [{"type": "document_url", "document_url": SIGNED}, {"type": "text", "text": "So"}]
    event = {"choices": [{"index": 0, "delta": {"content": content}}]}
    body = f"data: {json.dumps(event)}\n\n".encode()
    return 200, {"content-type": "text/event-stream"}, body


REPLIES = [unauthorized, invalid, html, redirect, broken, failing, in_stream, half_answer]


def played(reply: Any) -> Callable[[Connection], None]:
    def play(connection: Connection) -> None:
        seen = connection.request()
        if seen is not None:
            status, headers, body = reply(seen)
            lines = {name.replace("-", "_"): value for name, value in headers.items()}
            connection.send(head(status, content_length=len(body), connection="close", **lines))
            connection.send(body)

    return play


def cut(connection: Connection) -> None:
    """Echo what was sent, and break off."""
    seen = connection.request()
    if seen is not None:
        body = f'{{"text": "{CONTENT} {PROMPT} {SIGNED}'.encode()
        connection.send(head(content_type="application/json", content_length=9999) + body)


def reset(connection: Connection) -> None:
    """Break the connection before any answer."""
    connection.request()
    connection.reset()


def silent(connection: Connection) -> None:
    """Never answer."""
    connection.request()
    connection.wait_for_end()


def no_http(connection: Connection) -> None:
    """Answer in another language."""
    connection.request()
    connection.send(f"SSH-2.0 {SIGNED} {KEY}\r\n\r\n".encode())


PLAYS = [*(played(reply) for reply in REPLIES), cut, reset, silent, no_http]
PLAY_NAMES = [reply.__name__ for reply in REPLIES] + ["cut", "reset", "silent", "no_http"]


# What may go well in spite of the reply: bytes are bytes, and some calls need no JSON back.
CONTENT_CALLS = {"files.download", "files.download path"}


def failures_of(client: KnowledgeClient) -> Dict[str, KnowledgeError]:
    """The errors that the calls end in; each is one of ours."""
    failed: Dict[str, KnowledgeError] = {}
    for name, call in calls().items():
        try:
            call(client)
        except KnowledgeError as error:
            failed[name] = error
    return failed


def leaks(failed: Dict[str, KnowledgeError]) -> List[Tuple[str, str, List[str]]]:
    found = [
        (name, place, secrets_in(text))
        for name, error in failed.items()
        for place, text in shown_by(error).items()
        if secrets_in(text)
    ]
    return found + [
        (name, place, [KEY]) for name, error in failed.items() for place in key_in_our_frames(error)
    ]


def leaks_in(log: Everything) -> List[Tuple[str, str]]:
    return [(name, text) for name, text in log.seen if secrets_in(text)]


@pytest.mark.parametrize("play", PLAYS, ids=PLAY_NAMES)
def test_nothing_secret_is_shown_when_the_network_fails(play: Any, log: Everything) -> None:
    with Server(play) as server, warnings.catch_warnings():
        client = KnowledgeClient(KEY, base_url=server.url, retries=0, timeout=LIMITS)
        failed = failures_of(client)
        client.close()
    assert set(calls()) - set(failed) - CONTENT_CALLS == set()
    assert leaks(failed) == []
    assert leaks_in(log) == []


def test_nothing_secret_is_shown_when_no_connection_can_be_made(log: Everything) -> None:
    with Server(silent) as server:
        url = server.url
    with KnowledgeClient(KEY, base_url=url, retries=0) as client:
        failed = failures_of(client)
    late = failed.pop("documents.wait")
    assert isinstance(late, ProcessingTimeoutError)
    assert {type(error) for error in failed.values()} == {NotSentError}
    assert {*failed, "documents.wait"} == set(calls())
    assert leaks({**failed, "documents.wait": late}) == []
    assert leaks_in(log) == []


class Echoing(Keyed):
    """Gives each request the same reply, made from what was sent."""

    def __init__(self, reply: Any) -> None:
        super().__init__()
        self._made = reply

    def send(self, request: Any) -> Any:
        body = request.body if isinstance(request.body, bytes) else b"".join(request.body or [])
        headers = {name.lower(): value for name, value in request.headers.items()}
        made = self._made(Seen(request.method, request.url, headers, body))
        self.reply_next(
            made if isinstance(made, Scripted) else Scripted(made[0], made[1], [made[2]])
        )
        return super().send(request)


def lost(seen: Seen) -> Scripted:
    """The connection breaks in the middle of an echo."""
    return Scripted(200, {"content-type": "application/json"}, [seen.body, Cut()])


def late(seen: Seen) -> Scripted:
    """A limit runs out."""
    return Scripted(raises=RequestTimeoutError("no answer within 300 s", "first_byte"))


@pytest.mark.parametrize("reply", [*REPLIES, lost, late], ids=lambda reply: reply.__name__)
def test_nothing_secret_is_shown_when_the_fake_fails(reply: Any, log: Everything) -> None:
    transport = Echoing(reply)
    client = KnowledgeClient(KEY, transport=transport, retries=0, timeout=LIMITS)
    failed = failures_of(client)
    assert set(calls()) - set(failed) - CONTENT_CALLS == set()
    assert leaks(failed) == []
    assert leaks_in(log) == []
    assert [
        secrets_in(repr(record)) for record in transport.requests if secrets_in(repr(record))
    ] == []


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\u00e9", f"{KEY} x"])
@pytest.mark.parametrize("transport", [Keyed, RequestsTransport])
def test_a_key_that_cannot_be_sent_is_not_shown(key: str, transport: Any, log: Everything) -> None:
    client = KnowledgeClient(lambda: key, transport=transport(), base_url="http://127.0.0.1:9")
    failed = failures_of(client)
    assert set(failed) == set(calls())
    assert leaks(failed) == []
    assert leaks_in(log) == []


def test_the_sweep_finds_what_is_hidden_deep() -> None:
    class Holder:
        def __init__(self) -> None:
            self.request = {"headers": [("authorization", f"Bearer {KEY}")]}

    inner = ValueError("x")
    inner.response = Holder()  # type: ignore[attr-defined]
    error = KnowledgeError("y")
    error.__cause__ = inner
    assert leaks({"call": error}) == [("call", "attributes of 1", [KEY])]
