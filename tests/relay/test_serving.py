"""The relay on a port: many streams at once, clients that go away, curl, the command."""

from __future__ import annotations

import fcntl
import gc
import http.client
import json
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import tracemalloc
from typing import Any, Dict, Iterator, List

import pytest

from mistral_knowledge import FakeTransport, InvalidArgumentError, KnowledgeClient
from mistral_knowledge.relay import relay_app
from mistral_knowledge.relay.gone import has_gone
from mistral_knowledge.relay.serving import relay_server
from mistral_knowledge.transports.fake import Scripted, Stall

from ..conftest import python, python_environment
from .running import PATIENCE, events_in, post, relay_threads, running, wait_for_no_relay_threads
from .test_sse import END, chunk

RAG = "/v3/retrieval/rag"
STREAM = {"query": "Why?", "rag_generation_config": {"stream": True}}
MANY = 50
TOKEN = "relay-token-0123456789"


class Together:
    """Lets nobody on before all are here."""

    def __init__(self, count: int) -> None:
        self._barrier = threading.Barrier(count, timeout=60)

    def run(self, moment: Any) -> None:
        self._barrier.wait()


def many_answers() -> FakeTransport:
    together = Together(MANY)
    return FakeTransport(
        script=[
            Scripted.events(chunk(f"answer {number} "), together, *[chunk("x")] * 30, END)
            for number in range(MANY)
        ]
    )


def read_all(fake: FakeTransport) -> List[str]:
    """The answers that as many clients get at once."""
    answers: List[str] = []

    def read(port: int) -> None:
        connection, reply = post(port, RAG, STREAM)
        events = events_in(reply.read())
        connection.close()
        deltas = [data["delta"]["content"][0]["payload"]["value"] for name, data in events[:-2]]
        assert [name for name, _ in events[-2:]] == ["final_answer", "done"]
        assert "".join(deltas) == events[-2][1]["generated_answer"]
        answers.append("".join(deltas))

    client = KnowledgeClient(transport=fake, retries=0)
    with running(relay_app(client, libraries="lib")) as port:
        readers = [threading.Thread(target=read, args=(port,)) for _ in range(MANY)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(60)
    return answers


def test_fifty_streams_at_once_are_each_right_and_leave_nothing_behind() -> None:
    expected = sorted(f"answer {number} " + "x" * 30 for number in range(MANY))
    assert sorted(read_all(many_answers())) == expected
    wait_for_no_relay_threads()
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(2):
            assert sorted(read_all(many_answers())) == expected
            wait_for_no_relay_threads()
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[1] - sizes[0] < 300_000


def hang_up(connection: socket.socket, reset: bool) -> None:
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def asking(port: int, body: Dict[str, Any]) -> socket.socket:
    """A connection on which a question was sent."""
    payload = json.dumps(body).encode()
    head = f"POST {RAG} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(payload)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.sendall(head.encode() + payload)
    return connection


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("moment", ["before the headers", "in mid-answer", "in one piece"])
def test_a_client_that_goes_away_ends_the_answer_upstream_within_two_seconds(
    moment: str, reset: bool
) -> None:
    stall = Stall()
    script = Scripted.events(chunk("Yes"), stall)
    if moment == "before the headers":
        script = Scripted.events(before=[stall])
    fake = FakeTransport(script=[script])
    app = relay_app(KnowledgeClient(transport=fake, retries=0), libraries="lib")
    with running(app) as port:
        connection = asking(port, {"query": "Why?"} if moment == "in one piece" else STREAM)
        assert stall.reached.wait(PATIENCE)
        if moment == "in mid-answer":
            assert connection.recv(16)
        (reader,) = relay_threads()
        gone = time.monotonic()
        hang_up(connection, reset)
        reader.join(PATIENCE)
        assert not reader.is_alive()
        assert time.monotonic() - gone < 2
        assert fake.requests[0].reply_closed


def test_a_client_is_not_taken_for_gone_where_many_files_are_open() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    ours, theirs = socket.socketpair()
    try:
        number = fcntl.fcntl(ours.fileno(), fcntl.F_DUPFD, 1024)
        with ours, theirs, socket.socket(fileno=number) as line:
            assert not has_gone({"werkzeug.socket": line})
            theirs.close()
            assert has_gone({"werkzeug.socket": line})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 100\r\n\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-5\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_a_body_that_does_not_come_whole_gets_400_in_r2r_s_shape(
    client: KnowledgeClient, body: bytes
) -> None:
    head = b"Host: localhost\r\nContent-Type: application/json\r\n"
    with running(relay_app(client, libraries="lib")) as port, socket.create_connection(
        ("127.0.0.1", port), timeout=PATIENCE
    ) as line:
        line.sendall(b"POST " + RAG.encode() + b" HTTP/1.1\r\n" + head + body)
        line.shutdown(socket.SHUT_WR)
        reply = http.client.HTTPResponse(line)
        reply.begin()
        told = json.loads(reply.read())
    assert reply.status == 400
    assert told == {"message": "the body did not come whole", "error_type": "InvalidRequestError"}


def test_a_client_that_reads_on_gets_comments_in_the_silence() -> None:
    fake = FakeTransport(script=[Scripted.events(chunk("Yes"), Stall())])
    client = KnowledgeClient(transport=fake, retries=0)
    with running(relay_app(client, libraries="lib", heartbeat=0.05)) as port:
        connection, reply = post(port, RAG, STREAM)
        lines = [reply.readline() for _ in range(7)]
        connection.close()
        reply.close()
    assert lines[0] == b"event: message\n"
    assert lines[3:7] == [b": \n", b"\n", b": \n", b"\n"]


def test_the_guide_s_curl_command_streams_from_the_relay(client: KnowledgeClient) -> None:
    # The documented command (seed 004), its host and key apart.
    assert shutil.which("curl"), "this runs curl itself: install it"
    library = client.libraries.create("Papers")
    text = "DeepSeek R1 is a reasoning model."
    client.documents.upload(library, ("DeepSeek_R1.md", text), wait=True)
    with running(relay_app(client, libraries=library, token=TOKEN)) as port:
        command = rf"""
curl -X POST http://127.0.0.1:{port}/api/r2r/v3/retrieval/rag \
  -H "Content-Type: application/json" \
  -H "Accept: text/event-stream" \
  -d '{{
    "query": "What is DeepSeek R1?",
    "search_settings": {{"limit": 25}},
    "rag_generation_config": {{"stream": true}}
  }}' \
  -H "Authorization: Bearer $IOINTELLIGENCE_API_KEY"
"""
        done = subprocess.run(
            ["sh", "-c", command],
            env={"PATH": "/usr/bin:/bin", "IOINTELLIGENCE_API_KEY": TOKEN},
            capture_output=True,
            timeout=60,
            check=True,
        )
    events = events_in(done.stdout)
    assert [name for name, _ in events[-2:]] == ["final_answer", "done"]
    assert text in events[-2][1]["generated_answer"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_address_that_others_can_reach_needs_a_token(client: KnowledgeClient, host: str) -> None:
    app = relay_app(client, libraries="lib")
    with pytest.raises(InvalidArgumentError, match="MISTRAL_RELAY_TOKEN"):
        relay_server(app, host, 0)


# the command


@pytest.fixture
def sky() -> str:
    pathlib.Path("sky.md").write_text("The sky is blue by day.\n", encoding="utf-8")
    return "sky.md"


def started(*arguments: str, **environment: str) -> Iterator[Any]:
    """(process, port) of the command once it serves."""
    process = subprocess.Popen(
        python("-m", "mistral_knowledge", "relay", "--port", "0", *arguments),
        env=python_environment(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    timer = threading.Timer(60, process.kill)
    timer.start()
    try:
        assert process.stderr is not None
        said: List[str] = []
        while not (said and said[-1].startswith("serving on http://127.0.0.1:")):
            said.append(process.stderr.readline().decode())
            assert said[-1], said
        yield process, int(said[-1].split("/")[2].split(":")[1].split()[0])
    finally:
        timer.cancel()
        process.kill()
        process.communicate()


def test_the_command_serves_files_offline_logs_to_stderr_only_and_ends_with_ctrl_c(
    sky: str,
) -> None:
    for process, port in started("--offline", sky, MISTRAL_RELAY_TOKEN=TOKEN):
        _, refused = post(port, f"{RAG}?token=s3cret", STREAM)
        assert refused.status == 401
        refused.read()
        body = {**STREAM, "query": "Why is the sky blue?"}
        _, reply = post(port, RAG, body, {"x-api-key": TOKEN})
        assert (
            "The sky is blue by day."
            in dict(events_in(reply.read()))["final_answer"]["generated_answer"]
        )
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert out == b""
        assert err.decode().splitlines() == [f"POST {RAG} 401", f"POST {RAG} 200", "stopped"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to ask"),
        (["--library", "lib"], "MISTRAL_API_KEY"),
        (["--library", "lib", "--offline", "sky.md"], "not both"),
        (["--offline", "none.md"], "there is no such file"),
        (["--offline", "sky.md", "--host", "0.0.0.0"], "MISTRAL_RELAY_TOKEN"),
        (["--offline", "sky.md", "--token", ""], "it is empty"),
        (["--offline", "sky.md", "--port", "65536"], "from 0 to 65535"),
        (["--offline", "sky.md", "--max-streams", "0"], "above 0"),
    ],
)
def test_the_command_says_what_is_missing(
    sky: str, arguments: List[str], words: str, run_python: Any
) -> None:
    done = run_python("-m", "mistral_knowledge", "relay", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
