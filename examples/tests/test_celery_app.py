"""celery_app.py with a real worker (prefork) and a queue in a folder."""

from __future__ import annotations

import contextlib
import importlib
import pathlib
import queue
import subprocess
import sys
from typing import Any, Dict, Iterator

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from mistral_knowledge import KnowledgeClient
from mistral_knowledge._loopback import Connection, Server, chunk, head

from .conftest import EXAMPLES, environment

PATIENCE = 30
LIBRARY = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"


@pytest.fixture
def queues(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Dict[str, str]:
    """Where tasks and results go; the app of this process uses them too."""
    (tmp_path / "results").mkdir()
    where = {
        "BROKER_URL": "filesystem://",
        "RESULT_BACKEND": f"file://{tmp_path / 'results'}",
        "QUEUE_FOLDER": str(tmp_path / "queue"),
    }
    (tmp_path / "queue").mkdir()
    for name, value in where.items():
        monkeypatch.setenv(name, value)
    return where


@pytest.fixture
def app(queues: Dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, "celery_app", raising=False)
    return importlib.import_module("celery_app")


@contextlib.contextmanager
def worker(url: str, tmp_path: pathlib.Path) -> Iterator[None]:
    command = [sys.executable, "-m", "celery", "-A", "celery_app", "worker"]
    command += ["--pool", "prefork", "--concurrency", "1", "--loglevel", "INFO"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    log = open(tmp_path / "worker.log", "w+", encoding="utf-8")  # noqa: SIM115
    process = subprocess.Popen(
        command, env=environment(url), stdout=log, stderr=log, cwd=str(tmp_path)
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
            log.seek(0)
            print(log.read())
            log.close()


def test_a_document_is_uploaded_and_asked(
    url: str, client: KnowledgeClient, app: Any, tmp_path: pathlib.Path
) -> None:
    library = client.libraries.create("Papers")
    paper = tmp_path / "sky.md"
    paper.write_text("The sky is blue because of Rayleigh scattering.")
    with worker(url, tmp_path):
        first, second = (app.upload.delay(library.id, str(paper)) for _ in range(2))
        assert first.get(timeout=PATIENCE)["created"] is True
        assert second.get(timeout=PATIENCE) == {**first.get(), "created": False}
        answer = app.ask.delay("Why is the sky blue?", library.id).get(timeout=PATIENCE)
    assert "Rayleigh" in answer["text"]
    assert (answer["complete"], answer["sources"]) == (True, ["sky.md"])


def test_a_soft_time_limit_comes_out_of_the_middle_of_an_upload(
    app: Any, tmp_path: pathlib.Path
) -> None:
    hung_up: queue.Queue[str] = queue.Queue()

    def play(connection: Connection) -> None:
        # The head is read and no byte of the body, until the client is gone.
        connection.sock.recv(64)
        connection.wait_for_end()
        hung_up.put("hung up")

    with open(tmp_path / "large.bin", "wb") as file:
        file.truncate(200 * 2**20)
    with Server(play) as server, worker(server.url, tmp_path):
        result = app.upload.apply_async((LIBRARY, str(tmp_path / "large.bin")), soft_time_limit=1)
        with pytest.raises(SoftTimeLimitExceeded):
            result.get(timeout=PATIENCE)
        assert hung_up.get(timeout=PATIENCE) == "hung up"


def test_a_soft_time_limit_in_the_middle_of_an_answer_keeps_what_came(
    app: Any, tmp_path: pathlib.Path
) -> None:
    hung_up: queue.Queue[str] = queue.Queue()
    event = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"So far"}}]}\n\n'

    def play(connection: Connection) -> None:
        connection.request()
        connection.send(head(200, content_type="text/event-stream", transfer_encoding="chunked"))
        connection.send(chunk(event))
        connection.wait_for_end()
        hung_up.put("hung up")

    with Server(play) as server, worker(server.url, tmp_path):
        result = app.ask.apply_async(("Why?", LIBRARY), soft_time_limit=1)
        answer = result.get(timeout=PATIENCE)
        assert hung_up.get(timeout=PATIENCE) == "hung up"
    assert answer == {"text": "So far", "complete": False, "sources": []}
