"""`python -m mistral_knowledge sync`: offline in a file, over HTTP, stopped in the middle."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import types
from typing import Any, List

import pytest

from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.__main__ import main
from mistral_knowledge._loopback import Connection, Server, head
from mistral_knowledge.commands import _many
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve

from .conftest import python, python_environment

OFFLINE = ["--library", "Notes", "--offline", "notes.db"]


@pytest.fixture
def folder() -> pathlib.Path:
    place = pathlib.Path("papers")
    (place / "x").mkdir(parents=True)
    (place / "a.md").write_text("A.")
    (place / "x" / "b.md").write_text("B.")
    return place


def names() -> List[str]:
    with KnowledgeApi("notes.db") as api:
        client = KnowledgeClient(transport=FakeTransport(api))
        library = client.libraries.find("Notes")
        assert library is not None
        return sorted(str(one.name) for one in client.documents.list(library))


def test_offline_it_keeps_everything_in_a_file(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sync", str(folder), *OFFLINE]) == 0
    out, err = capsys.readouterr()
    assert out == "2 uploaded\n"
    assert err.splitlines()[0].startswith("made the library 'Notes': ")
    assert err.splitlines()[-1] == "2 of 2 files"
    assert names() == ["a.md", "x/b.md"]
    assert main(["sync", str(folder), *OFFLINE]) == 0
    assert capsys.readouterr() == ("2 the same\n", "")


def test_a_dry_run_prints_the_plan_and_makes_nothing(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sync", str(folder), *OFFLINE, "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert out == "upload   a.md\nupload   x/b.md\n2 to upload\n"
    assert err == "there is no library 'Notes' yet; it would be made\n"
    assert main(["sync", str(folder), *OFFLINE]) == 0
    (folder / "a.md").unlink()
    capsys.readouterr()
    assert main(["sync", str(folder), *OFFLINE, "--dry-run", "--delete"]) == 0
    assert capsys.readouterr().out == "delete   a.md\n1 to delete, 1 the same\n"
    assert names() == ["a.md", "x/b.md"]


def test_a_name_in_the_plan_cannot_command_the_terminal(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "b\x1b[2J.md").write_text("b", encoding="utf-8")
    assert main(["sync", str(folder), *OFFLINE, "--dry-run"]) == 0
    assert "upload   b\\x1b[2J.md\n" in capsys.readouterr().out


def test_patterns_and_deletion(folder: pathlib.Path) -> None:
    assert main(["sync", str(folder), *OFFLINE]) == 0
    (folder / "x" / "b.md").unlink()
    (folder / "c.txt").write_text("C.")
    patterns = ["--pattern", "*.md", "--pattern", "x/*"]
    assert main(["sync", str(folder), *OFFLINE, *patterns, "--delete", "--workers", "1"]) == 0
    assert names() == ["a.md"]


def test_a_file_that_failed_is_a_line_and_code_1(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "dead.md").symlink_to("nowhere")
    assert main(["sync", str(folder), *OFFLINE]) == 1
    out, err = capsys.readouterr()
    assert out == "2 uploaded, 1 failed\n"
    assert err.splitlines()[-1].startswith("failed   dead.md: ")
    assert main(["sync", str(folder), *OFFLINE, "--dry-run"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere", *OFFLINE], "nowhere: there is no such folder"),
        (["papers", *OFFLINE, "--workers", "0"], "workers=0: give 1 to 100"),
        (["papers", *OFFLINE, "--pattern", ""], "pattern=['']: give one such as"),
        (["papers", "--library", "N"], "no API key: set the environment variable"),
        (["papers", "--library", " ", "--offline", "notes.db"], "a library needs a name"),
        (["papers", "--library", "N", "--offline", "papers"], "the database papers cannot be used"),
    ],
)
def test_misuse_is_one_line_and_code_2(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: List[str], words: str
) -> None:
    assert main(["sync", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith(f"mistral_knowledge: {words}")


def test_a_library_is_named_or_given_by_its_id(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    with KnowledgeApi() as api, serve(api) as server:
        monkeypatch.setenv("MISTRAL_BASE_URL", server.url)
        with KnowledgeClient() as client:
            library = client.libraries.create("Notes")
            for given in ("Notes", library.id):
                assert main(["sync", str(folder), "--library", given]) == 0
            assert capsys.readouterr().out == "2 uploaded\n2 the same\n"
            assert main(["sync", str(folder), "--library", "0" * 32]) == 1
            assert [one.id for one in client.libraries.list()] == [library.id]


def test_a_bar_is_shown_where_somebody_watches_and_tqdm_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: List[Any] = []

    class Bar:
        total = None
        n = 0

        def __init__(self, **options: Any) -> None:
            seen.append(options["file"] is sys.stderr)

        def update(self, more: int) -> None:
            self.n += more
            seen.append((self.n, self.total))

        def close(self) -> None:
            seen.append("closed")

    module: Any = types.ModuleType("tqdm")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", module)
    monkeypatch.setattr(_many, "_watched", lambda: True)
    with _many.counting("files") as on_progress:
        on_progress(1, 3)
        on_progress(3, 3)
    assert seen == [True, (1, 3), (3, 3), "closed"]


def test_without_tqdm_a_line_is_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)  # an import of it fails
    monkeypatch.setattr(_many, "_watched", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with _many.counting("files") as on_progress:
        on_progress(1, 2)
        on_progress(2, 2)
    assert capsys.readouterr() == ("", "\r\x1b[K1 of 2 files\r\x1b[K2 of 2 files")


def test_ctrl_c_says_how_far_it_came(folder: pathlib.Path) -> None:
    process: Any = None

    def play(connection: Connection) -> None:
        asked = connection.request()
        assert asked is not None
        if asked.method == "GET":
            body = b'{"data": [], "pagination": {"has_more": false}}'
            if "documents" not in asked.target:
                body = b'{"id": "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10", "name": "Notes"}'
            about = {"content_type": "application/json", "content_length": len(body)}
            connection.send(head(200, connection="close", **about) + body)
            return
        process.send_signal(signal.SIGINT)
        connection.wait_for_end()

    with Server(play) as server:
        command = ("sync", str(folder), "--library", "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10")
        process = subprocess.Popen(
            python("-m", "mistral_knowledge", *command, "--workers", "1"),
            env=python_environment(MISTRAL_BASE_URL=server.url, MISTRAL_API_KEY="k"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            # A shell that runs tests in the background has SIGINT ignored in all its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "no files done; run it again for the rest\n\ninterrupted\n"


def test_a_database_in_the_folder_is_refused(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = folder / "x" / "notes.db"
    arguments = ["sync", str(folder), "--library", "Notes", "--offline", str(database)]
    assert main(arguments) == 2
    assert "keep the database elsewhere" in capsys.readouterr().err
    assert not database.exists()
