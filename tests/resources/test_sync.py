"""A library brought in line with a folder, over the in-memory API, also served, spoiled and cut."""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
import tracemalloc
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import pytest

from mistral_knowledge import (
    AbortSignal,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    Library,
    NotFoundError,
    Retry,
    ServerError,
    UploadsAbortedError,
)
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.exchange import ApiReply, ApiRequest, json_reply
from mistral_knowledge.fake_api.server import serve

from ..conftest import python, python_environment
from .wire import ID

Tree = Dict[str, str]


@pytest.fixture
def library(client: KnowledgeClient) -> Library:
    return client.libraries.create("Papers")


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    place = tmp_path / "papers"
    place.mkdir()
    return place


def put(folder: pathlib.Path, tree: Tree) -> None:
    for name, text in tree.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def held(client: KnowledgeClient, library: Any) -> Tree:
    """What the library holds: the text of each document by its name; each name is there once."""
    documents = list(client.documents.list(library))
    texts = {str(one.name): client.documents.text(library, one).strip() for one in documents}
    assert len(texts) == len(documents)
    return texts


def actions(report: Any) -> List[Tuple[str, str]]:
    return [(step.action, step.name) for step in report.steps]


TREE = {"readme.md": "Of all.", "x/readme.md": "Of x.", "x/y/deep.txt": "Deep."}


def test_the_library_holds_what_the_folder_holds(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    put(folder, {**TREE, ".hidden/a.md": "Hidden."})
    report = client.libraries.sync(folder, library)
    assert (report.ok, report.counts["upload"], report.summary()) == (True, 3, "3 uploaded")
    assert held(client, library) == TREE
    again = client.libraries.sync(str(folder), library)
    assert (again.ok, again.summary()) == (True, "3 the same")


def test_only_what_changed_is_sent(
    client: KnowledgeClient, fake: FakeTransport, library: Library, folder: pathlib.Path
) -> None:
    put(folder, TREE)
    client.libraries.sync(folder, library)
    put(folder, {"x/readme.md": "Of x, anew."})
    del fake.requests[:]
    report = client.libraries.sync(folder, library)
    assert report.summary() == "1 replaced, 2 the same"
    assert [one.method for one in fake.requests] == ["GET", "POST", "DELETE"]
    assert held(client, library) == {**TREE, "x/readme.md": "Of x, anew."}


def test_a_dry_run_writes_nothing_and_prints_its_plan(
    client: KnowledgeClient, fake: FakeTransport, library: Library, folder: pathlib.Path
) -> None:
    put(folder, TREE)
    client.libraries.sync(folder, library)
    put(folder, {"readme.md": "New.", "z.md": "Z."})
    (folder / "x" / "readme.md").rename(folder / "moved.md")
    (folder / "x" / "y" / "deep.txt").unlink()
    del fake.requests[:]
    report = client.libraries.sync(folder, library, delete=True, dry_run=True)
    assert {one.method for one in fake.requests} == {"GET"}
    assert str(report).splitlines() == [
        "rename   x/readme.md -> moved.md",
        "replace  readme.md",
        "upload   z.md",
        "delete   x/y/deep.txt",
        "1 to upload, 1 to replace, 1 to rename, 1 to delete",
    ]
    done = client.libraries.sync(folder, library, delete=True)
    assert [step.status for step in done.steps] == ["done"] * 4
    assert held(client, library) == {"moved.md": "Of x.", "readme.md": "New.", "z.md": "Z."}


def test_nothing_is_deleted_unless_asked(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    client.documents.upload(library, ("other.md", "Other."))
    put(folder, TREE)
    assert client.libraries.sync(folder, library).counts["keep"] == 1
    assert held(client, library) == {**TREE, "other.md": "Other."}
    assert client.libraries.sync(folder, library, delete=True).counts["delete"] == 1
    assert held(client, library) == TREE


def test_files_that_changed_places_do_so_in_the_library(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    put(folder, {"a": "First.", "b": "Second."})
    client.libraries.sync(folder, library)
    put(folder, {"a": "Second.", "b": "First."})
    assert client.libraries.sync(folder, library).summary() == "2 renamed"
    assert held(client, library) == {"a": "Second.", "b": "First."}


def test_files_of_the_same_content_are_one_document(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    put(folder, {"a": "Same.", "b": "Same."})
    first = client.libraries.sync(folder, library, workers=1)
    assert (first.ok, first.summary()) == (True, "1 uploaded, 1 the same")
    assert client.libraries.sync(folder, library, delete=True).summary() == "2 the same"
    assert held(client, library) == {"a": "Same."}


def test_what_cannot_be_uploaded_fails_and_then_nothing_is_deleted(
    client: KnowledgeClient, library: Library, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    client.documents.upload(library, ("gone.md", "Gone."))
    put(folder, {"a": "A."})
    os.mkfifo(str(folder / "pipe"))
    (tmp_path / "outside.md").write_text("Outside.")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "dead.md").symlink_to(tmp_path / "nowhere")
    (folder / "up").symlink_to(tmp_path)
    report = client.libraries.sync(folder, library, delete=True)
    assert {step.name: type(step.error) for step in report.failed} == {
        "dead.md": FileNotFoundError,
        "link.md": InvalidArgumentError,
        "pipe": InvalidArgumentError,
        "up": InvalidArgumentError,
    }
    assert not report.ok
    assert report.summary() == "1 uploaded, 4 failed, 1 not deleted, because something failed"
    assert held(client, library) == {"a": "A.", "gone.md": "Gone."}


def test_links_within_the_folder_are_not_followed_in_circles(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    put(folder, {"x/a": "A."})
    (folder / "x" / "loop").symlink_to(folder)
    (folder / "b").symlink_to(folder / "x" / "a")
    report = client.libraries.sync(folder, library)
    assert (report.ok, sorted(step.name for step in report.steps)) == (True, ["b", "x/a"])


def test_a_name_that_is_no_utf8_is_refused(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    with open(os.path.join(os.fsencode(folder), b"\xff.md"), "wb") as file:
        file.write(b"x")
    (step,) = client.libraries.sync(folder, library).failed
    assert "not UTF-8" in str(step.error)


def test_an_empty_folder_does_not_empty_the_library(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    client.documents.upload(library, ("a.md", "A."))
    for dry_run in (True, False):
        with pytest.raises(InvalidArgumentError, match="would empty the library"):
            client.libraries.sync(folder, library, delete=True, dry_run=dry_run)
    assert client.libraries.sync(folder, library).counts["keep"] == 1


def test_the_old_document_stays_while_the_new_one_cannot_be_used(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    put(folder, {"a.md": "Good."})
    client.libraries.sync(folder, library)
    (folder / "a.md").write_bytes(b"\x00\x01 no text")
    for _ in range(2):
        client.libraries.sync(folder, library)
        statuses = sorted(str(one.status) for one in client.documents.list(library))
        assert statuses == ["done", "error"]


def test_the_old_document_stays_when_the_upload_fails(
    client: KnowledgeClient, fake: FakeTransport, library: Library, folder: pathlib.Path
) -> None:
    put(folder, {"a.md": "Old."})
    client.libraries.sync(folder, library)
    put(folder, {"a.md": "New."})
    fake.fail_next(500, times=3, method="POST")
    (step,) = client.libraries.sync(folder, library).failed
    assert (step.action, type(step.error)) == ("replace", ServerError)
    assert held(client, library) == {"a.md": "Old."}


def test_a_deletion_whose_reply_is_lost_is_not_a_failure(
    client: KnowledgeClient, fake: FakeTransport, library: Library, folder: pathlib.Path
) -> None:
    put(folder, {"a.md": "Old."})
    client.libraries.sync(folder, library)
    put(folder, {"a.md": "New."})
    fake.fail_next(404, method="DELETE")
    assert client.libraries.sync(folder, library).ok


def test_progress_is_told_in_steps_and_an_abort_says_how_far_it_came(
    client: KnowledgeClient, library: Library, folder: pathlib.Path
) -> None:
    put(folder, {f"{number}": f"Number {number}." for number in range(40)})
    stop, seen = AbortSignal(), []

    def on_progress(done: int, total: Optional[int]) -> None:
        seen.append((done, total))
        if done == 5:
            stop.abort("enough")

    with pytest.raises(UploadsAbortedError, match="enough") as caught:
        client.libraries.sync(folder, library, workers=2, on_progress=on_progress, signal=stop)
    assert seen == [(number, 40) for number in range(1, 6)]
    assert (len(caught.value.done), len(caught.value.not_done) <= 4) == (5, True)
    assert client.libraries.sync(folder, library).ok
    assert len(held(client, library)) == 40


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (("nowhere", ID), {}),
        ((".", "../x"), {}),
        ((".", ID), {"pattern": ""}),
        ((".", ID), {"workers": 0}),
        ((".", ID), {"wait": -1}),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_sent(
    client: KnowledgeClient, fake: FakeTransport, arguments: Any, more: Any
) -> None:
    with pytest.raises(InvalidArgumentError):
        client.libraries.sync(*arguments, **more)
    assert fake.requests == []


def test_a_library_that_is_not_there_is_an_error(
    client: KnowledgeClient, folder: pathlib.Path
) -> None:
    with pytest.raises(NotFoundError):
        client.libraries.sync(folder, ID)


# over HTTP


class SpoiledApi(KnowledgeApi):
    """Spoils one request in five: 429, 503, or a connection that ends before or after the work."""

    def __init__(self, seed: int) -> None:
        super().__init__(polls_until_done=0)
        self._rolls = random.Random(seed)
        self._one_at_a_time = threading.Lock()
        self.spoiled = 0

    def handle(self, request: ApiRequest) -> ApiReply:
        with self._one_at_a_time:
            roll = self._rolls.random()
            self.spoiled += roll < 0.2
        if roll < 0.10:
            reply = json_reply({"message": "later"}, 429 if roll < 0.05 else 503)
            reply.headers["retry-after"] = "0"
            return reply
        if roll < 0.15:
            raise ConnectionError("spoiled before")
        reply = super().handle(request)
        if roll < 0.20:
            raise ConnectionError("spoiled after")
        return reply


def test_with_a_fifth_of_all_requests_spoiled_every_document_is_there_exactly_once(
    folder: pathlib.Path,
) -> None:
    tree = {f"{number % 7}/{number}.md": f"Number {number}." for number in range(200)}
    put(folder, tree)
    patient = Retry(20, backoff=0)
    with SpoiledApi(seed=3) as api, serve(api) as server:
        with KnowledgeClient("k", base_url=server.url, retries=patient) as client:
            # Making one is not repeated when it may have been done.
            library = _until_made(client)
            report = client.libraries.sync(folder, library)
            assert (report.ok, len(report.steps)) == (True, 200)
            put(folder, {name: f"{text} Anew." for name, text in list(tree.items())[:50]})
            (folder / "0" / "0.md").unlink()
            again = client.libraries.sync(folder, library, delete=True)
            assert again.ok
            expected = {name: (folder / name).read_text() for name in tree if name != "0/0.md"}
            assert held(client, library) == expected
        assert api.spoiled > 60


def _until_made(client: KnowledgeClient) -> Library:
    for _ in range(50):
        with contextlib.suppress(Exception):
            return client.libraries.get_or_create("Papers")
    raise AssertionError("it could not be made")


class DeadlyApi(KnowledgeApi):
    """Calls `kill()` in the middle of a request: `before` it is handled, or after."""

    kill: Callable[[], None]
    left = -1
    before = True

    def handle(self, request: ApiRequest) -> ApiReply:
        self.left -= 1
        deadly = self.left == 0
        if deadly and self.before:
            self.kill()
        reply = super().handle(request)
        if deadly and not self.before:
            self.kill()
        return reply


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with DeadlyApi(polls_until_done=0) as api, serve(api) as server:
        monkeypatch.setenv("MISTRAL_BASE_URL", server.url)
        monkeypatch.setenv("MISTRAL_API_KEY", "k")
        yield api


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_moments_and_run_again_nothing_is_lost_and_nothing_is_twice(
    deadly: DeadlyApi, folder: pathlib.Path, seed: int
) -> None:
    chance = random.Random(seed)
    put(folder, {f"{number % 3}/{number}.md": f"Old {number}." for number in range(20)})
    with KnowledgeClient() as client:
        library = client.libraries.create("Papers")
        client.libraries.sync(folder, library)
        tree = {f"{number % 3}/{number}.md": f"New {number}." for number in range(10, 40)}
        for number in range(10):
            (folder / f"{number % 3}" / f"{number}.md").unlink()
        put(folder, tree)
        codes = [_killed(deadly, folder, chance) for _ in range(5)]
        assert -signal.SIGKILL in codes
        deadly.left = -1
        assert client.libraries.sync(folder, library, delete=True).ok
        assert held(client, library) == tree


def _killed(deadly: DeadlyApi, folder: pathlib.Path, chance: random.Random) -> int:
    command = ("sync", str(folder), "--library", "Papers", "--delete", "--workers", "4")
    process = subprocess.Popen(
        python("-m", "mistral_knowledge", *command),
        env=python_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadly.kill = process.kill  # type: ignore[method-assign]
    deadly.before = chance.random() < 0.5
    deadly.left = chance.randint(3, 25)
    return process.wait(60)


def test_two_thousand_small_files_take_no_memory_that_grows(
    folder: pathlib.Path, record_property: Callable[[str, Any], None]
) -> None:
    put(folder, {f"{n % 20}/{n}.md": f"# Number {n}\n\nA few words." for n in range(2000)})
    server = subprocess.Popen(
        python("-m", "mistral_knowledge", "fake-server", "--port", "0"),
        env=python_environment(),
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert server.stderr is not None
        url = server.stderr.readline().split()[2]
        reader = threading.Thread(target=server.stderr.read)
        reader.start()
        with KnowledgeClient("k", base_url=url) as client:
            library = client.libraries.create("Papers")
            run = client.documents.upload_many(library, folder)
            began = time.monotonic()
            early = _memory_after(run, 500)
            late = _memory_after(run, 1500)
            rate = 2000 / (time.monotonic() - began)
            tracemalloc.stop()
            assert (list(run), run.uploaded, run.failed) == ([], 2000, 0)
            assert len(list(client.documents.list(library))) == 2000
    finally:
        server.kill()
        server.wait()
        reader.join()
        server.stderr.close()
    record_property("files a second", rate)
    print(f"{rate:.0f} files a second; {(late - early) / 1500:.0f} bytes more for each")
    assert (late - early) / 1500 < 600  # the paths in `done`


def _memory_after(run: Any, count: int) -> int:
    for _ in range(count):
        next(run)
    if not tracemalloc.is_tracing():
        tracemalloc.start()
        return 0
    return tracemalloc.get_traced_memory()[0]
