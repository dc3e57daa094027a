"""Many uploads at once: outcomes as they come, one pace for all, and an end at any moment."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import pathlib
import queue
import subprocess
import sys
import threading
from typing import Any, Dict, Iterator, List

import pytest

from mistral_knowledge import (
    AbortedError,
    AbortSignal,
    ConfigurationError,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    Library,
    NotFoundError,
    ProcessingError,
    RateLimitError,
    Retry,
    UploadsAbortedError,
)
from mistral_knowledge.resources import _gate
from mistral_knowledge.transports.fake import Scripted

from ..conftest import AT_ONCE, python_environment
from .wire import ID, OTHER

PATIENCE = 20.0
CREATED = {"id": OTHER, "library_id": ID, "process_status": "todo"}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    place = tmp_path / "papers"
    for name in ("readme.md", "x/readme.md", "x/y/deep.txt", ".hidden/no.md", "x/.no.md"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"The content of {name}.")
    return place


@pytest.fixture
def library(client: KnowledgeClient) -> Library:
    return client.libraries.create("Papers")


def files(folder: pathlib.Path, count: int) -> List[str]:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"{number}.txt").write_text(f"number {number}")
    return [str(folder / f"{number}.txt") for number in range(count)]


def workers() -> List[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("mistral_knowledge-worker")]


class Held:
    """A transport whose uploads wait until they are let go, or aborted."""

    needs_key = False

    def __init__(self) -> None:
        self.begun: queue.Queue[Any] = queue.Queue()
        self.inner = FakeTransport(script=itertools.repeat(Scripted(201, json=CREATED), 1000))
        self.let_go = threading.Semaphore(0)

    def let(self, count: int) -> None:
        for _ in range(count):
            self.let_go.release()

    def send(self, request: Any) -> Any:
        remove = request.signal.add_callback(self.let_go.release)
        self.begun.put(request)
        assert self.let_go.acquire(timeout=PATIENCE)
        remove()
        request.signal.raise_if_aborted()
        return self.inner.send(request)

    def close(self) -> None:
        self.inner.close()


def _begun(held: Held, count: int) -> None:
    for _ in range(count):
        held.begun.get(timeout=PATIENCE)


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def slow(held: Held) -> KnowledgeClient:
    return KnowledgeClient(transport=held, retries=0)


def test_a_folder_is_uploaded_under_the_names_of_its_paths(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    outcomes = list(client.documents.upload_many(library, folder))
    assert sorted((o.path, o.status, o.document.name) for o in outcomes if o.document) == [
        (str(folder / "readme.md"), "uploaded", "readme.md"),
        (str(folder / "x" / "readme.md"), "uploaded", "x/readme.md"),
        (str(folder / "x" / "y" / "deep.txt"), "uploaded", "x/y/deep.txt"),
    ]
    again = list(client.documents.upload_many(library, str(folder)))
    assert [outcome.status for outcome in again] == ["already_there"] * 3
    assert workers() == []


def test_a_pattern_chooses_files_of_a_folder(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    run = client.documents.upload_many(library, folder, pattern="**/*.md")
    assert sorted(outcome.document.name for outcome in run) == ["readme.md", "x/readme.md"]  # type: ignore[union-attr]


def test_paths_are_uploaded_as_they_were_given(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    given = [folder / "readme.md", str(folder / "x" / "y" / "deep.txt")]
    outcomes = {o.path: o.document for o in client.documents.upload_many(library, given)}
    assert {path: document.name for path, document in outcomes.items() if document} == {
        given[0]: "readme.md",
        given[1]: "deep.txt",
    }


def test_a_single_file_may_be_given(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    (outcome,) = client.documents.upload_many(library, folder / "readme.md")
    assert (outcome.status, outcome.error) == ("uploaded", None)


def test_one_failure_never_stops_the_rest(
    client: KnowledgeClient, fake: FakeTransport, library: Library, tmp_path: pathlib.Path
) -> None:
    os.mkfifo(str(tmp_path / "pipe"))
    good = files(tmp_path / "good", 5)
    given = [str(tmp_path / "missing"), str(tmp_path / "pipe"), str(tmp_path), *good]
    run = client.documents.upload_many(library, given)
    kinds = {outcome.path: type(outcome.error) for outcome in run}
    assert kinds == {
        given[0]: FileNotFoundError,
        given[1]: InvalidArgumentError,
        given[2]: InvalidArgumentError,
        **dict.fromkeys(good, type(None)),
    }
    assert (run.uploaded, run.already_there, run.failed) == (5, 0, 3)
    assert sorted(run.done) == sorted(given)


def test_a_refusal_is_an_outcome(tmp_path: pathlib.Path, client: KnowledgeClient) -> None:
    run = client.documents.upload_many(ID, files(tmp_path / "f", 2))
    assert [type(outcome.error) for outcome in run] == [NotFoundError] * 2


def test_a_document_that_could_not_be_processed_is_with_the_failure(
    client: KnowledgeClient, library: Library, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    (outcome,) = client.documents.upload_many(library, [tmp_path / "empty.txt"], wait=True)
    assert (outcome.status, type(outcome.error)) == ("failed", ProcessingError)
    assert outcome.document is not None
    assert outcome.document.name == "empty.txt"


def test_a_programming_error_comes_out_as_it_is(tmp_path: pathlib.Path) -> None:
    client = KnowledgeClient(transport=FakeTransport(script=[]))
    with pytest.raises(AssertionError, match="unexpected request"):
        list(client.documents.upload_many(ID, files(tmp_path / "f", 30)))
    assert workers() == []


def test_without_a_key_nothing_is_tried_file_by_file(tmp_path: pathlib.Path) -> None:
    with KnowledgeClient() as client, pytest.raises(ConfigurationError, match="no API key"):
        list(client.documents.upload_many(ID, files(tmp_path / "f", 3)))


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        ("nowhere", {}, "no such folder"),
        (b"bytes", {}, "give a folder"),
        (5, {}, "give a folder"),
        (["a"], {"pattern": "*"}, "pattern= is for a folder"),
        (".", {"pattern": ""}, "pattern"),
        (".", {"pattern": [5]}, "pattern"),
        (["a"], {"workers": 0}, "workers=0"),
        (["a"], {"workers": True}, "workers=True"),
        (["a"], {"workers": 101}, "1 to 100"),
        (["a"], {"wait": -1}, "wait=-1"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_sent(
    client: KnowledgeClient, given: Any, more: Dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        client.documents.upload_many(ID, given, **more)


def test_a_thing_that_is_no_path_stops_the_run(client: KnowledgeClient) -> None:
    odd: Any = [5]
    with pytest.raises(InvalidArgumentError, match="the path of a file, got a int"):
        next(client.documents.upload_many(ID, odd))


def test_an_endless_iterable_is_read_only_as_far_as_needed(
    slow: KnowledgeClient, held: Held, tmp_path: pathlib.Path
) -> None:
    (path,) = files(tmp_path / "f", 1)
    read: List[str] = []
    endless = (read.append(path) or path for _ in itertools.count())  # type: ignore[func-returns-value]
    with slow.documents.upload_many(ID, endless, workers=3) as run:
        assert read == []
        held.let(100)
        for taken in range(1, 5):
            next(run)
            assert len(read) <= 6 + taken  # three at work, three that wait for them
    assert workers() == []


def test_no_more_than_the_workers_upload_at_once(
    slow: KnowledgeClient, held: Held, tmp_path: pathlib.Path
) -> None:
    most = []

    def let_go() -> None:
        for _ in range(10):
            held.begun.get(timeout=PATIENCE)
            most.append(len(workers()))
            held.let_go.release()

    helper = threading.Thread(target=let_go)
    helper.start()
    assert len(list(slow.documents.upload_many(ID, files(tmp_path / "f", 10), workers=2))) == 10
    helper.join(PATIENCE)
    assert max(most) <= 2


def test_leaving_the_loop_aborts_what_runs_and_begins_nothing(
    slow: KnowledgeClient, held: Held, tmp_path: pathlib.Path
) -> None:
    given = files(tmp_path / "f", 20)
    run = slow.documents.upload_many(ID, given, workers=4)
    held.let_go.release()
    for outcome in run:
        assert outcome.status == "uploaded"
        break
    assert workers() == []
    assert held.begun.qsize() <= 5
    assert sorted([*run.done, *run.not_done()]) == sorted(given)
    assert len(run.done) == 1


@pytest.mark.parametrize("held_by", ["loop", "name"])
def test_dropping_it_stops_it(
    slow: KnowledgeClient, held: Held, tmp_path: pathlib.Path, held_by: str
) -> None:
    held.let_go.release()
    run: Any = slow.documents.upload_many(ID, files(tmp_path / "f", 20), workers=2)
    run = iter(run) if held_by == "loop" else run
    next(run)
    threads = [t for t in threading.enumerate() if t.name.startswith("mistral_knowledge-worker")]
    gc.disable()
    try:
        del run
    finally:
        gc.enable()
    for thread in threads:
        thread.join(PATIENCE)
    assert workers() == []


def test_an_abort_says_what_is_done_and_what_is_not(
    slow: KnowledgeClient, held: Held, tmp_path: pathlib.Path
) -> None:
    signal = AbortSignal()
    given = files(tmp_path / "f", 20)
    run = slow.documents.upload_many(ID, given, workers=2, signal=signal)
    held.let_go.release()
    next(run)
    timer = threading.Thread(target=lambda: (_begun(held, 2), signal.abort("stop pressed")))
    timer.start()
    with pytest.raises(UploadsAbortedError, match="aborted: 1 done, ") as e:
        next(run)
    timer.join()
    assert isinstance(e.value, AbortedError)
    assert (e.value.reason, len(e.value.done)) == ("stop pressed", 1)
    assert set(e.value.done + e.value.not_done) <= set(given)
    assert workers() == []
    assert list(run) == []


def test_a_second_loop_and_a_second_reader_are_refused(
    slow: KnowledgeClient, held: Held, tmp_path: pathlib.Path
) -> None:
    run = slow.documents.upload_many(ID, files(tmp_path / "f", 2))
    reader = threading.Thread(target=lambda: list(run))
    reader.start()
    held.begun.get(timeout=PATIENCE)
    with pytest.raises(InvalidArgumentError, match="already looped over"):
        iter(run)
    with pytest.raises(InvalidArgumentError, match="another thread"):
        next(run)
    held.let(2)
    reader.join(PATIENCE)
    assert run.uploaded == 2


def test_close_from_another_thread_ends_the_loop(
    slow: KnowledgeClient, held: Held, tmp_path: pathlib.Path
) -> None:
    run = slow.documents.upload_many(ID, files(tmp_path / "f", 9), workers=2)
    closer = threading.Thread(target=lambda: (held.begun.get(), run.close()))
    closer.start()
    with pytest.raises(UploadsAbortedError):
        next(run)
    closer.join(PATIENCE)
    assert workers() == []


def test_progress_is_told_in_files(
    client: KnowledgeClient, library: Library, tmp_path: pathlib.Path
) -> None:
    seen: List[Any] = []
    given = files(tmp_path / "f", 3)
    list(client.documents.upload_many(library, given, on_progress=lambda *far: seen.append(far)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    seen.clear()
    list(
        client.documents.upload_many(
            library, iter(given), on_progress=lambda *far: seen.append(far)
        )
    )
    assert seen == [(1, None), (2, None), (3, None)]


def test_a_server_that_cuts_the_folders_off_gets_the_whole_name(
    folder: pathlib.Path,
) -> None:
    made = Scripted(201, json={**CREATED, "name": "readme.md"})
    patched = Scripted(200, method="PATCH", json={**CREATED, "name": "x/readme.md"})
    client = KnowledgeClient(transport=FakeTransport(script=[made, patched]))
    run = client.documents.upload_many(ID, folder, pattern="x/readme.md")
    (outcome,) = run
    assert outcome.document is not None
    assert (outcome.status, outcome.document.name) == ("uploaded", "x/readme.md")


# one pace for all


@contextlib.contextmanager
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[List[float]]:
    """A clock of the gate that only its waits move; the waits."""
    waits: List[float] = []

    class Time:
        @staticmethod
        def monotonic() -> float:
            return 1000.0 + sum(waits)

        @staticmethod
        def time() -> float:
            return 0.0

    monkeypatch.setattr(_gate, "time", Time)
    monkeypatch.setattr(_gate, "_wait", lambda request, seconds: waits.append(seconds))
    yield waits


def limited(retry_after: Any) -> Scripted:
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Scripted(429, headers, json={"message": "slow down"})


def test_a_429_holds_up_every_upload(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [limited(7), *[Scripted(201, json=CREATED)] * 2]
    client = KnowledgeClient(transport=FakeTransport(script=script), retries=0)
    with clock(monkeypatch) as waits:
        run = client.documents.upload_many(ID, files(tmp_path / "f", 3), workers=1)
        kinds = [type(outcome.error) for outcome in run]
    assert kinds == [RateLimitError, type(None), type(None)]
    assert waits == [7.0]


def test_without_a_retry_after_the_pause_grows(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [*[limited(None)] * 3, Scripted(201, json=CREATED), limited(None)]
    script.append(Scripted(201, json=CREATED))
    retry = Retry(0, backoff=2, cap=5)
    client = KnowledgeClient(transport=FakeTransport(script=script), retries=retry)
    with clock(monkeypatch) as waits:
        list(client.documents.upload_many(ID, files(tmp_path / "f", 6), workers=1))
    assert waits == [2.0, 4.0, 5.0, 2.0]


def test_a_pause_that_is_too_long_fails_the_rest_without_a_request(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeTransport(script=[limited(3600)])
    client = KnowledgeClient(transport=fake, retries=Retry(5, backoff=0, cap=30))
    with clock(monkeypatch) as waits:
        run = client.documents.upload_many(ID, files(tmp_path / "f", 4), workers=1)
        errors: List[Any] = [outcome.error for outcome in run]
    assert [error.retry_after for error in errors] == [3600.0] * 4
    assert (len(fake.requests), waits) == (1, [])


def test_retries_follow_those_of_the_client(tmp_path: pathlib.Path) -> None:
    fake = FakeTransport(script=[*[limited(0)] * 2, Scripted(201, json=CREATED)])
    client = KnowledgeClient(transport=fake, retries=AT_ONCE)
    (outcome,) = client.documents.upload_many(ID, files(tmp_path / "f", 1))
    assert outcome.status == "uploaded"


# processes

PROGRAM = """
import os, signal, sys, threading
from mistral_knowledge import KnowledgeClient
from mistral_knowledge._loopback import Server
begun = threading.Semaphore(0)
def play(connection):
    if connection.request() is not None:
        begun.release()
        connection.wait_for_end()
server = Server(play).__enter__()
client = KnowledgeClient("k", base_url=server.url)
open("a.txt", "w").close()
run = client.documents.upload_many("lib", ["a.txt"] * 50, workers=3)
"""

CTRL_C = """
def press():
    for _ in range(3):
        begun.acquire()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
try:
    for outcome in run:
        raise AssertionError(outcome)
except KeyboardInterrupt:
    alive = [t.name for t in threading.enumerate() if "worker" in t.name]
    assert not alive, alive
    assert (run.done, len(list(run.not_done()))) == ([], 50)
    print("fine")
"""

HANDLER = """
from mistral_knowledge import AbortSignal, UploadsAbortedError
stop = AbortSignal()
signal.signal(signal.SIGTERM, lambda *_: stop.abort("told to stop"))
run = client.documents.upload_many("lib", ["a.txt"] * 50, workers=3, signal=stop)
def press():
    for _ in range(3):
        begun.acquire()
    os.kill(os.getpid(), signal.SIGTERM)
threading.Thread(target=press, daemon=True).start()
try:
    next(run)
except UploadsAbortedError as error:
    assert error.reason == "told to stop"
    print("fine")
"""

EXIT = """
threading.Thread(target=next, args=(run, None), daemon=True).start()
begun.acquire()
print("fine")
"""

GEVENT = """
import gevent.monkey
gevent.monkey.patch_all()
import gevent, pathlib
from mistral_knowledge import FakeTransport, KnowledgeClient, AbortSignal
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve
for number in range(30):
    pathlib.Path(f"{number}.txt").write_text(f"number {number}")
with KnowledgeApi() as api, serve(api) as server:
    client = KnowledgeClient("k", base_url=server.url)
    library = client.libraries.create("Notes")
    ticks = []
    ticker = gevent.spawn(lambda: [ticks.append(gevent.sleep(0)) for _ in range(50)])
    run = client.documents.upload_many(library, ".")
    assert [outcome.status for outcome in run] == ["uploaded"] * 30
    assert ticks
    assert client.libraries.sync(".", library).counts["same"] == 30
    client.close()
print("fine")
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(PROGRAM + CTRL_C, id="ctrl-c in the main thread acts at once"),
        pytest.param(PROGRAM + HANDLER, id="an abort in a signal handler acts at once"),
        pytest.param(PROGRAM + EXIT, id="the interpreter's end waits for no upload"),
        pytest.param(GEVENT, id="it works under gevent"),
    ],
)
def test_in_a_process_of_its_own(program: str, tmp_path: pathlib.Path) -> None:
    strict = [] if "gevent" in program else ["-W", "error"]
    done = subprocess.run(
        [sys.executable, *strict, "-c", program],
        env=python_environment(),
        cwd=str(tmp_path / "work"),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE * 2,
        check=False,
        # A shell that runs tests in the background has SIGINT ignored in all its children.
        preexec_fn=_heed_sigint,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)


def _heed_sigint() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
