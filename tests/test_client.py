"""client: the parts are put together as the arguments and the settings say."""

from __future__ import annotations

import gc
import pathlib
import threading
import weakref
from typing import Any, Dict

import pytest

from mistral_knowledge import (
    ConfigurationError,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    RequestsTransport,
    Retry,
    Settings,
    Timeout,
)
from mistral_knowledge.settings import SettingsFile
from mistral_knowledge.transports.fake import Scripted

KEY = "sk-live-0123456789"
ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"
DONE = b'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n'
WHOLE = {
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    ]
}


class Keyed(FakeTransport):
    """A fake that asks for a key, as the network does."""

    needs_key = True


def settings(rag: Any = None, **environment: str) -> Settings:
    return Settings(SettingsFile("p.ini", {"rag": rag or {}}), None, environment)


def asked(client: KnowledgeClient, **options: Any) -> Dict[str, Any]:
    """The body of the one request that a question makes."""
    transport: Any = client._caller.transport
    streamed = options.get("streaming", client.rag._defaults.streaming())
    transport.reply_next(Scripted.events(DONE) if streamed else Scripted(json=WHOLE))
    assert client.rag.query("?", libraries=ID, **options).text == "x"
    return transport.requests[-1].json  # type: ignore[no-any-return]


def test_a_client_needs_nothing_to_be_made() -> None:
    with KnowledgeClient() as client:
        assert repr(client) == "<KnowledgeClient https://api.mistral.ai>"
        assert isinstance(client._caller.transport, RequestsTransport)
        assert client._caller.timeout == Timeout()
        assert client._caller.retry == Retry(2)


@pytest.mark.parametrize(
    ("argument", "call", "model"),
    [
        (None, None, "from file"),
        ("from client", None, "from client"),
        (None, "from call", "from call"),
        ("from client", "from call", "from call"),
    ],
)
def test_a_calls_model_beats_the_clients_which_beats_the_files(
    argument: Any, call: Any, model: str
) -> None:
    client = KnowledgeClient(
        transport=FakeTransport(), settings=settings({"model": "from file"}), model=argument
    )
    assert asked(client, model=call)["model"] == model


def test_the_default_model_is_mistral_medium() -> None:
    assert asked(KnowledgeClient(transport=FakeTransport()))["model"] == "mistral-medium-latest"


@pytest.mark.parametrize(
    ("file", "argument", "call", "streamed"),
    [
        (None, None, {}, True),
        ("off", None, {}, False),
        ("off", True, {}, True),
        ("on", False, {}, False),
        ("off", False, {"streaming": True}, True),
        ("on", True, {"streaming": False}, False),
    ],
)
def test_a_calls_streaming_beats_the_clients_which_beats_the_files(
    file: Any, argument: Any, call: Any, streamed: bool
) -> None:
    rag = {} if file is None else {"streaming": file}
    client = KnowledgeClient(transport=FakeTransport(), settings=settings(rag), streaming=argument)
    assert asked(client, **call).get("stream", False) is streamed


def test_limits_and_retries_come_from_the_files_unless_they_are_given() -> None:
    file = settings({"retries": "5", "timeout_idle": "7"})
    from_file = KnowledgeClient(transport=FakeTransport(), settings=file)._caller
    given = KnowledgeClient(transport=FakeTransport(), settings=file, retries=0, timeout=9)._caller
    unlimited = KnowledgeClient(transport=FakeTransport(), settings=file, timeout=None)._caller
    assert (from_file.retry, from_file.timeout) == (Retry(5), Timeout(idle=7))
    assert (given.retry, given.timeout) == (Retry(0), Timeout(idle=7, total=9))
    assert unlimited.timeout == Timeout(None, None, None, None, None)


def test_settings_are_read_from_the_machine_where_none_are_given() -> None:
    pathlib.Path("mistral_knowledge.ini").write_text("[rag]\nmodel = from the folder\n")
    assert asked(KnowledgeClient(transport=FakeTransport()))["model"] == "from the folder"
    isolated = KnowledgeClient(transport=FakeTransport(), settings=Settings())
    assert asked(isolated)["model"] == "mistral-medium-latest"


@pytest.mark.parametrize(
    ("argument", "environment", "url"),
    [
        (None, {}, "https://api.mistral.ai"),
        (None, {"MISTRAL_BASE_URL": "https://env.example/"}, "https://env.example"),
        ("https://arg.example", {"MISTRAL_BASE_URL": "https://env.example"}, "https://arg.example"),
        ("https://arg.example/v1", {}, "https://arg.example"),
        ("https://arg.example/v1/", {}, "https://arg.example"),
        ("https://arg.example/proxy/v1", {}, "https://arg.example/proxy"),
        ("https://arg.example:8443/api", {}, "https://arg.example:8443/api"),
        ("HTTPS://arg.example", {}, "HTTPS://arg.example"),
    ],
)
def test_the_address_is_the_arguments_then_the_settings_without_its_v1(
    argument: Any, environment: Any, url: str
) -> None:
    client = KnowledgeClient(base_url=argument, settings=settings(**environment))
    assert client._caller.base_url == url


@pytest.mark.parametrize(
    "url",
    [
        "api.mistral.ai",
        "ftp://api.mistral.ai",
        "https://",
        "https:///v1",
        "https://host:port",
        "https://host:99999",
        "https://[::1",
        f"https://user:{KEY}@host",
        f"https://{KEY}@host",
        "https://@host",
        f"https://host?key={KEY}",
        "https://host?",
        "https://host#x",
        "https://host#",
        "https://ho st",
        "https://host\n",
        " https://host",
        "https://host\\.localhost",
        "file:///etc/passwd",
    ],
)
@pytest.mark.parametrize("source", ["argument", "environment"])
def test_an_address_that_cannot_be_is_refused_without_being_shown(url: str, source: str) -> None:
    where: Any = (
        {"base_url": url} if source == "argument" else {"settings": settings(MISTRAL_BASE_URL=url)}
    )
    if source == "environment" and url != url.strip():
        return  # blanks around it do no harm there
    with pytest.raises(ConfigurationError, match="base_url") as caught:
        KnowledgeClient(**where)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.mistral.ai",
        "http://10.0.0.1",
        "http://192.168.1.5:8000",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://0.0.0.0",
        "http://evil.example/localhost",
        "http://[2001:db8::1]",
    ],
)
def test_a_key_is_not_sent_over_plain_http_to_another_machine(url: str) -> None:
    with pytest.raises(ConfigurationError, match="plain http"):
        KnowledgeClient(KEY, base_url=url)
    with pytest.raises(ConfigurationError, match="plain http"):
        KnowledgeClient(KEY, base_url=url, transport=Keyed())
    assert KnowledgeClient(KEY, base_url=url, allow_insecure_http=True)
    assert KnowledgeClient(base_url=url, transport=FakeTransport())  # no key goes there


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8765",
        "http://LOCALHOST",
        "http://api.localhost",
        "http://127.0.0.1:1",
        "http://127.9.9.9",
        "http://[::1]:8765",
    ],
)
def test_plain_http_is_fine_within_this_machine(url: str) -> None:
    assert KnowledgeClient(KEY, base_url=url)


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Authorization": f"Bearer {KEY}"}, "api_key="),
        ({"x-api-key": f"{KEY}\r\nX: y"}, "line break"),
        ({"x-team": f"{KEY}\0"}, "line break"),
        ({"x-team": None}, "no text"),
        ({"x-team": 5}, "no text"),
        ({"x team": "a"}, "no header name"),
        ({"x:team": "a"}, "no header name"),
        ({"": "a"}, "no header name"),
        ({"x\n": "a"}, "no header name"),
        ({5: "a"}, "no header name"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused_without_being_shown(
    headers: Any, words: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=words) as caught:
        KnowledgeClient(transport=FakeTransport(), default_headers=headers)
    assert KEY not in str(caught.value)


def test_a_user_agent_with_a_line_break_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="line break"):
        KnowledgeClient(transport=FakeTransport(), user_agent="a\nb")


@pytest.mark.parametrize("options", [{"timeout": 0}, {"timeout": "5"}, {"retries": -1}])
def test_options_that_cannot_work_are_refused_when_the_client_is_made(options: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        KnowledgeClient(transport=FakeTransport(), **options)


def test_with_options_changes_what_is_given_and_shares_the_rest() -> None:
    fake = FakeTransport()
    client = KnowledgeClient(transport=fake, model="a", streaming=False, timeout=5, retries=1)
    other = client.with_options(model="b", streaming=True, timeout=7, retries=Retry(3))
    same = client.with_options()
    assert (other._caller.timeout, other._caller.retry) == (Timeout(total=7), Retry(3))
    assert (same._caller.timeout, same._caller.retry) == (Timeout(total=5), Retry(1))
    assert asked(other, streaming=True)["model"] == "b"
    assert asked(same, streaming=False)["model"] == "a"
    assert client._caller.timeout == Timeout(total=5)
    assert other._caller.transport is same._caller.transport is fake
    assert other._caller.learned is client._caller.learned


def test_options_on_top_of_options_keep_what_was_set_before() -> None:
    client = KnowledgeClient(transport=FakeTransport()).with_options(model="a", streaming=False)
    assert "stream" not in asked(client.with_options(retries=0), streaming=False)
    assert asked(client.with_options(retries=0), streaming=False)["model"] == "a"


class Closing(FakeTransport):
    """Counts how often it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = 0

    def close(self) -> None:
        self.closed += 1
        super().close()


def test_a_transport_that_was_given_stays_open() -> None:
    transport = Closing()
    with KnowledgeClient(transport=transport) as client:
        client.with_options().close()
    assert transport.closed == 0


def test_a_transport_that_the_client_made_is_closed_with_it_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transport = Closing()
    monkeypatch.setattr("mistral_knowledge.client.RequestsTransport", lambda: transport)
    with KnowledgeClient() as client:
        client.with_options().close()
        assert transport.closed == 0
    assert transport.closed == 1


def test_one_client_serves_many_threads(client: KnowledgeClient) -> None:
    library = client.libraries.create("Notes")
    texts = {f"{number}.txt": f"number {number}" for number in range(16)}
    read: Dict[str, str] = {}

    def work(name: str) -> None:
        document = client.documents.upload(library, (name, texts[name]), wait=True)
        read[name] = client.documents.text(document)

    threads = [threading.Thread(target=work, args=[name]) for name in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert read == texts


@pytest.mark.parametrize("name", ["Host", "connection", "Content-Length", "Transfer-Encoding"])
def test_headers_that_belong_to_http_itself_are_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="belongs to HTTP"):
        KnowledgeClient("key", default_headers={name: "x"})


def test_a_dropped_client_is_freed_without_the_garbage_collector() -> None:
    """Else its connections stay open until the collector comes by."""
    gc.collect()
    gc.disable()
    try:
        transport = FakeTransport()
        gone = weakref.ref(transport)
        KnowledgeClient(transport=transport)
        del transport
        assert gone() is None
    finally:
        gc.enable()
