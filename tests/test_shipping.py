"""A client goes to other processes without its secrets, or says why it does not."""

from __future__ import annotations

import copy
import pathlib
import pickle
import subprocess
import sys
from typing import Any, Callable, Dict, Optional

import pytest
import requests

from mistral_knowledge import (
    ConfigurationError,
    FakeTransport,
    KnowledgeClient,
    RequestsTransport,
    Retry,
    Settings,
    Timeout,
)
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve
from mistral_knowledge.transports import Reply, Request

from .conftest import python, python_environment

KEY = "sk-live-0123456789"
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def the_key() -> Optional[str]:
    return KEY


class Holder:
    def key(self) -> str:
        return KEY

    @staticmethod
    def of_class() -> str:
        return KEY


def again(client: KnowledgeClient, protocol: int = pickle.HIGHEST_PROTOCOL) -> KnowledgeClient:
    data = pickle.dumps(client, protocol)
    assert KEY.encode() not in data
    assert KEY.encode("utf-16-le") not in data
    loaded: KnowledgeClient = pickle.loads(data)
    return loaded


def key_of(client: KnowledgeClient) -> Optional[str]:
    return client._caller.api_key.read()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", [None, KEY, the_key, Holder.of_class])
def test_a_client_is_pickled_without_its_key(
    source: Any, protocol: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    client = again(again(KnowledgeClient(source), protocol), protocol)
    assert key_of(client) == KEY


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_its_settings_go_with_it(protocol: int) -> None:
    client = KnowledgeClient(
        base_url="https://gateway.example/mistral",
        transport=RequestsTransport(pool_size=7),
        timeout=Timeout(idle=3),
        retries=Retry(5, 0.25, 9),
        model="my-model",
        streaming=False,
        default_headers={"x-team": "physics"},
        user_agent="ours/1",
    )
    loaded = again(client, protocol)
    for name in ("base_url", "timeout", "retry", "headers"):
        assert getattr(loaded._caller, name) == getattr(client._caller, name)
    assert (loaded.rag._defaults.model(), loaded.rag._defaults.streaming()) == ("my-model", False)
    transport: Any = loaded._caller.transport
    assert (type(transport), transport._pool_size) == (RequestsTransport, 7)


def test_it_works_in_another_process_with_the_key_of_that_process() -> None:
    with KnowledgeApi(api_key=KEY) as api, serve(api) as server:
        data = pickle.dumps(KnowledgeClient("another-key", base_url=server.url))
        program = (
            "import pickle, sys\n"
            "client = pickle.loads(sys.stdin.buffer.read())\n"
            "with client:\n"
            "    print(client.libraries.create('There').name)"
        )
        done = subprocess.run(
            python("-c", program),
            input=data,
            env=python_environment(MISTRAL_API_KEY=KEY),
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert (done.stdout.strip(), done.stderr) == (b"There", b"")


def test_a_key_that_was_given_as_text_stays_behind_and_the_error_says_so() -> None:
    with again(KnowledgeClient(KEY)) as client, pytest.raises(
        ConfigurationError, match="stays behind when a client is pickled"
    ):
        client.libraries.get("x")


def test_without_a_key_there_the_usual_error_says_what_to_do() -> None:
    with again(KnowledgeClient()) as client, pytest.raises(
        ConfigurationError, match="set the environment variable"
    ):
        client.libraries.get("x")


@pytest.mark.parametrize("gone", ["module", "function"])
def test_a_function_that_is_not_there_is_named(
    gone: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "keys_for_a_test.py").write_text("def find():\n    return 'k'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import keys_for_a_test  # type: ignore[import-not-found]

    data = pickle.dumps(KnowledgeClient(keys_for_a_test.find))
    if gone == "module":
        monkeypatch.delitem(sys.modules, "keys_for_a_test")
        (tmp_path / "keys_for_a_test.py").unlink()
        monkeypatch.setattr(sys, "path", [one for one in sys.path if one != str(tmp_path)])
    else:
        monkeypatch.delattr(keys_for_a_test, "find")
    with pickle.loads(data) as client, pytest.raises(
        ConfigurationError, match="the function find of keys_for_a_test"
    ):
        client.libraries.get("x")


@pytest.mark.parametrize("source", [lambda: KEY, Holder().key, [KEY].pop])
def test_what_could_hold_the_key_is_not_pickled(source: Callable[[], str]) -> None:
    with pytest.raises(TypeError, match="which may hold the key"):
        pickle.dumps(KnowledgeClient(source))


class Odd:
    needs_key = False
    secret = KEY

    def send(self, request: Request) -> Reply:
        raise NotImplementedError

    def close(self) -> None:
        pass


class Odder(RequestsTransport):
    pass


class Shipped(Odd):
    def __reduce__(self) -> Any:
        return Shipped, ()


@pytest.mark.parametrize(
    ("transport", "words"),
    [
        (FakeTransport(), "in the memory of this process"),
        (RequestsTransport(requests.Session()), "a requests.Session of yours"),
        (Odd(), "does not say how"),
        (Odder(), "give it a __reduce__"),
    ],
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_transport_that_cannot_go_says_why(transport: Any, words: str, protocol: int) -> None:
    client = KnowledgeClient(transport=transport)
    with pytest.raises(TypeError, match=words):
        pickle.dumps(client, protocol)


def test_a_transport_that_says_how_goes_with_the_client() -> None:
    transport = again(KnowledgeClient(transport=Shipped()))._caller.transport
    assert type(transport) is Shipped


@pytest.mark.parametrize(
    "name", ["X-Api-Key", "cookie", "X-Gateway-Token", "x-authz", "x-secret", "my-password"]
)
def test_a_header_that_may_be_a_secret_is_refused_by_name(name: str) -> None:
    client = KnowledgeClient(default_headers={name: KEY})
    with pytest.raises(TypeError, match=name.lower()) as caught:
        pickle.dumps(client)
    assert KEY not in str(caught.value)


def test_an_address_with_a_password_in_the_environment_stays_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MISTRAL_BASE_URL", f"https://me:{KEY}@gateway.example")
    client = again(KnowledgeClient(base_url="https://api.mistral.ai"))
    assert client._settings == Settings()


def test_parts_of_a_client_say_to_pickle_the_client() -> None:
    with pytest.raises(TypeError, match="pickle the client itself"):
        pickle.dumps(KnowledgeClient(KEY).documents.upload)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("make", [FakeTransport, lambda: RequestsTransport(requests.Session())])
def test_a_copy_shares_transport_and_key(
    copied: Callable[[KnowledgeClient], KnowledgeClient], make: Any
) -> None:
    transport = make()
    other = copied(KnowledgeClient(KEY, transport=transport, model="m"))
    assert other._caller.transport is transport
    assert (key_of(other), other.rag._defaults.model()) == (KEY, "m")


def test_closing_a_copy_leaves_the_transport_open(client: KnowledgeClient) -> None:
    copied: Dict[str, KnowledgeClient] = copy.deepcopy({"client": client})
    copied["client"].close()
    assert list(client.libraries.list()) == []
