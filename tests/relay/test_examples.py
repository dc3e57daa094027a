"""The examples run, each in its server, in a process of its own."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import threading
from typing import Iterator, List, Tuple
from urllib.parse import urlencode

import pytest

from ..conftest import ROOT
from .running import PATIENCE, events_in, post

EXAMPLES = ROOT / "examples"
GUNICORN = ["gunicorn", "--bind", "127.0.0.1:{port}", "--graceful-timeout", "1", "--chdir"]
THREADS = ["--worker-class", "gthread", "--threads", "8"]
GEVENT = ["--worker-class", "gevent"]
STREAM = {"query": "What is a transport?", "rag_generation_config": {"stream": True}}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(*command: str) -> Iterator[Tuple[subprocess.Popen[bytes], int]]:
    """(process, port) of `python -m command` once it says where it listens."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, *(part.format(port=port) for part in command)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        cwd=str(ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    timer = threading.Timer(60, process.kill)
    timer.start()
    try:
        read_until(process, f"127.0.0.1:{port}")
        yield process, port
    finally:
        timer.cancel()
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=PATIENCE)
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def read_until(process: subprocess.Popen[bytes], words: str) -> None:
    """Read the output up to a line with `words`; fails where there is none."""
    lines: List[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line.decode("utf-8", "replace"))
        if words in lines[-1]:
            return
    raise AssertionError("".join(lines))


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "flask", "--app", str(EXAMPLES / "flask_app.py"), "run", "--port", "{port}"],
        [str(EXAMPLES / "django_app.py"), "runserver", "127.0.0.1:{port}", "--noreload"],
    ],
    ids=["flask", "django"],
)
def test_a_view_streams_an_answer(command: List[str]) -> None:
    with serving(*command) as (_, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        form = urlencode({"question": "What is a transport?"})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/answer", form, kind)
        reply = connection.getresponse()
        names = [name for name, _ in events_in(reply.read())]
        connection.close()
    assert reply.status == 200
    assert reply.getheader("Content-Type", "").startswith("text/event-stream")
    assert {"message", "citation"} <= set(names)
    assert names[-2:] == ["final_answer", "done"]


@pytest.mark.parametrize("worker", [THREADS, GEVENT], ids=["threads", "gevent"])
def test_gunicorn_serves_the_relay(worker: List[str]) -> None:
    with serving("-m", *GUNICORN, str(EXAMPLES), *worker, "relay_wsgi:app") as (_, port):
        connection, reply = post(port, "/v3/retrieval/rag", STREAM)
        names = [name for name, _ in events_in(reply.read())]
        connection.close()
    assert names[-2:] == ["final_answer", "done"]


@pytest.mark.parametrize("worker", [THREADS, GEVENT], ids=["threads", "gevent"])
def test_under_gunicorn_a_client_that_goes_away_ends_the_answer(worker: List[str]) -> None:
    app = "tests.relay.stalling:app"
    with serving("-m", *GUNICORN, str(ROOT), *worker, app) as (process, port):
        connection, reply = post(port, "/v3/retrieval/rag", STREAM)
        assert reply.readline() == b"event: message\n"
        connection.close()
        reply.close()
        read_until(process, "ended upstream")
