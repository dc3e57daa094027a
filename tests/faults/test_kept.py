"""Connections that were kept and are no longer good: none fails a safe call or spoils the next."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from mistral_knowledge import ConnectionLostError, KnowledgeClient
from mistral_knowledge._loopback import Connection, Server, head
from mistral_knowledge._scenarios import LONG, Outcome, pause, raised, until

from .serving import AT_ONCE, END, OPERATIONS, Good, balanced, sends, stage

SAFE = [name for name, operation in OPERATIONS.items() if operation.safe]
COSTLY = [name for name in OPERATIONS if name not in SAFE]


@pytest.fixture(params=["http", "tls"])
def secure(request: Any) -> Any:
    return request.getfixturevalue("tls") if request.param == "tls" else None


def reset(connection: Connection, good: Good) -> str:
    connection.reset()
    return END


HANG_UPS = {"closed": sends(lambda good: b""), "reset": reset}


class Rush:
    """Keeps connections: each is used once, then breaks at its second request."""

    def __init__(self, good: Good, how: Any, tls: Any) -> None:
        self.good, self.how = good, how
        self.firsts = threading.Barrier(5)
        self.used = 0
        self.server = Server(self.play, tls)

    def play(self, connection: Connection) -> None:
        fresh = self.used >= 5
        self.used += 1
        assert connection.request() is not None
        if not fresh:
            self.firsts.wait(10)  # so that five are open at once
        connection.send(self.good.length())
        while connection.request() is not None:
            if not fresh and self.how(connection, self.good) == END:
                return
            connection.send(self.good.length())


@pytest.mark.parametrize("how", HANG_UPS)
@pytest.mark.parametrize("name", SAFE)
def test_however_many_kept_connections_are_stale_a_safe_call_works(
    name: str, how: str, secure: Any
) -> None:
    """The server hangs up just as the next request arrives, so nobody can see it before."""
    operation = OPERATIONS[name]
    rush = Rush(operation.good, HANG_UPS[how], secure)
    with balanced(), rush.server as server:
        client = KnowledgeClient("key", base_url=server.url, retries=AT_ONCE, timeout=LONG)
        calls = [Outcome(lambda: operation.call(client)) for _ in range(5)]
        for call in calls:
            call.join()
            assert call.value == operation.value
        assert operation.call(client) == operation.value
        client.close()


@pytest.mark.parametrize("how", HANG_UPS)
@pytest.mark.parametrize("name", COSTLY)
def test_a_stale_connection_never_has_a_costly_call_sent_twice(
    name: str, how: str, secure: Any
) -> None:
    operation = OPERATIONS[name]
    first = sends(lambda good: good.length(), None)
    faults = [first, HANG_UPS[how]]
    with stage(operation.good, *faults, tls=secure, retries=AT_ONCE) as (server, client):
        assert operation.call(client) == operation.value
        error = raised(ConnectionLostError, lambda: operation.call(client))
        assert error.maybe_executed is True
        assert (len(server.seen), server.connections) == (2, 1)
        assert operation.call(client) == operation.value


def test_a_connection_that_was_closed_meanwhile_is_not_used_for_any_call(secure: Any) -> None:
    for operation in OPERATIONS.values():
        with stage(operation.good, sends(lambda good: good.length()), tls=secure) as (_, client):
            assert operation.call(client) == operation.value
            pause()
            assert operation.call(client) == operation.value


EVIL = head(content_length=4) + b"evil"
BEHIND = {"a byte": b"x", "another reply": EVIL, "many replies": EVIL * 300}


PLACES = [(kind, extra) for kind in ("length", "chunked", "empty") for extra in BEHIND]


@pytest.mark.parametrize(("kind", "extra"), [*PLACES[:3], *PLACES[3:5], *PLACES[6:8]])
def test_what_a_server_sends_behind_its_reply_is_no_reply_to_the_next_request(
    kind: str, extra: str, secure: Any
) -> None:
    """Wherever a buffer ends: at one of the paddings it ends where a whole reply begins."""

    def odd(good: Good) -> bytes:
        if kind == "empty":
            return head(204)
        return good.length() if kind == "length" else good.chunked()

    operation = OPERATIONS["download"]
    for padding in range(len(EVIL)) if extra == "many replies" else [0]:
        behind = b"\n" * padding + BEHIND[extra]
        with stage(
            operation.good,
            sends(lambda good: odd(good) + behind, None),  # noqa: B023
            tls=secure,
        ) as (server, client):
            assert operation.call(client) == (b"" if kind == "empty" else operation.value)
            assert operation.call(client) == operation.value
            assert (len(server.seen), server.connections) == (2, 2)


def test_two_calls_that_cross_a_stale_connection_get_their_own_answers() -> None:
    def play(connection: Connection) -> None:
        for number, seen in enumerate(iter(connection.request, None)):
            if number == 2:
                return  # hangs up at its third request
            body = seen.target.encode()
            connection.send(head(content_length=len(body)) + body)

    with balanced(), Server(play) as server:
        client = KnowledgeClient("key", base_url=server.url, retries=AT_ONCE, timeout=LONG)

        def ask(number: int) -> bool:
            names = [f"f{number}-{turn}" for turn in range(6)]
            return all(client.files.download(name).endswith(b"/content") for name in names) and all(
                client.files.download(name).decode() == f"/v1/files/{name}/content"
                for name in names
            )

        asking = [Outcome(lambda number=number: ask(number)) for number in range(6)]
        until(lambda: all(not one._thread.is_alive() for one in asking))
        assert [one.value for one in asking] == [True] * 6
        client.close()
