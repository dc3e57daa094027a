"""`python -m mistral_knowledge`: in process, as a subprocess, offline and against a server."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import threading
from typing import Any, Callable, Dict, Iterator, List

import pytest

from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.__main__ import main
from mistral_knowledge._loopback import Connection, Seen, Server, chunk, head
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve
from mistral_knowledge.notebook._terminal import show_answer
from mistral_knowledge.transports.fake import Scripted

from .conftest import python, python_environment

KEY = "sk-live-0123456789"
ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"
PATIENCE = 20.0


@pytest.fixture
def files() -> pathlib.Path:
    """A folder with documents, in the working directory."""
    folder = pathlib.Path("papers")
    (folder / "deeper").mkdir(parents=True)
    (folder / "sky.md").write_text("# Sky\n\nThe sky is blue because of Rayleigh scattering.\n")
    (folder / "deeper" / "sea.html").write_text("<p>The sea is salty because of rivers.</p>")
    (folder / ".hidden.md").write_text("The moon is made of cheese.")
    return folder


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeClient]:
    """A served API that the command talks to; gives a client of it."""
    with contextlib.ExitStack() as stack:
        api = stack.enter_context(KnowledgeApi(api_key=KEY, polls_until_done=0, seed=7))
        server = stack.enter_context(serve(api, "127.0.0.1", 0))
        monkeypatch.setenv("MISTRAL_BASE_URL", server.url)
        monkeypatch.setenv("MISTRAL_API_KEY", KEY)
        yield stack.enter_context(KnowledgeClient(KEY, base_url=server.url))


def lines(text: str) -> List[str]:
    return [line for line in text.splitlines() if line]


# offline


def test_offline_it_answers_from_the_files_with_numbered_sources(
    files: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "--offline", "Why is the sky blue?", str(files / "sky.md")]) == 0
    out, err = capsys.readouterr()
    assert "Rayleigh scattering" in out
    assert "[1]" in lines(out)[0]
    assert lines(out)[-1] == "[1] sky.md"
    assert lines(err)[0] == "sky.md: ready"
    assert lines(err)[-1].startswith("tokens: ")


def test_as_a_subprocess_the_answer_is_on_stdout_and_all_else_on_stderr(
    files: pathlib.Path, run_python: Callable[..., Any]
) -> None:
    done = run_python("-m", "mistral_knowledge", "ask", "--offline", "Why salty sea?", str(files))
    assert done.returncode == 0
    assert "rivers" in done.stdout
    assert "[1] deeper/sea.html" in lines(done.stdout)
    assert [line for line in lines(done.stderr) if line.endswith(": ready")] == [
        "deeper/sea.html: ready",
        "sky.md: ready",
    ]
    assert "\x1b" not in done.stdout + done.stderr  # nobody watches, so nothing is overwritten
    assert "cheese" not in done.stdout  # hidden files are left out


def test_a_file_that_cannot_be_read_is_left_out_and_the_code_says_so(
    files: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = files / "broken.pdf"
    broken.write_bytes(b"no pdf")
    assert (
        main(["ask", "--offline", "Why is the sky blue?", str(files / "sky.md"), str(broken)]) == 1
    )
    out, err = capsys.readouterr()
    assert "Rayleigh" in out
    assert any(line.startswith("broken.pdf: left out, ") for line in lines(err))


def test_when_no_file_can_be_read_nothing_is_asked(
    files: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "broken.pdf").write_bytes(b"no pdf")
    assert main(["ask", "--offline", "Why?", str(files / "broken.pdf")]) == 2
    out, err = capsys.readouterr()
    assert (out, lines(err)[-1]) == ("", "mistral_knowledge: none of the files could be read")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["Why?", "missing.md"], "missing.md: there is no such file"),
        (["Why?"], "nothing to ask: name files, or a library with --library ID"),
        (["Why?", "."], "nothing to ask: name files, or a library with --library ID"),
        (["", "papers/sky.md"], "the question is empty"),
        (["  ", "papers/sky.md"], "the question is empty"),
        (["--library", "../x", "Why?"], "'../x' is not the id of a Library"),
    ],
)
def test_misuse_is_one_line_that_says_what_is_wrong_and_code_2(
    arguments: List[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pathlib.Path("papers").mkdir()
    if "papers/sky.md" in arguments:
        pathlib.Path("papers/sky.md").write_text("x")
    assert main(["ask", "--offline", *arguments]) == 2
    assert capsys.readouterr() == ("", f"mistral_knowledge: {words}\n")


@pytest.mark.parametrize("arguments", [[], ["ask"], ["nothing"], ["ask", "--wat", "x"]])
def test_arguments_that_cannot_be_are_explained_with_code_2(
    arguments: List[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m mistral_knowledge" in capsys.readouterr().err


def test_help_and_version_go_to_stdout_with_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    from mistral_knowledge import __version__

    for arguments, words in ((["--version"], __version__), (["ask", "--help"], "--offline")):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 0
        assert words in capsys.readouterr().out


def test_every_command_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert "ask" in out
    assert "fake-server" in out


def test_a_console_without_the_characters_shows_others(
    files: pathlib.Path, run_python: Callable[..., Any]
) -> None:
    (files / "cafe.md").write_text("The café closes at nine.", encoding="utf-8")
    arguments = ["ask", "--offline", "When closes the café?", str(files / "cafe.md")]
    done = run_python("-m", "mistral_knowledge", *arguments, PYTHONIOENCODING="ascii")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert "The caf? closes at nine" in done.stdout


def test_a_reader_that_went_away_is_no_traceback(files: pathlib.Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(
        python("-m", "mistral_knowledge", "ask", "--offline", "Why is the sky blue?", str(files)),
        env=python_environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    os.close(writer)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "Traceback" in err, "Exception" in err) == (1, False, False)


# online


@pytest.mark.parametrize("key", [None, "", "  "])
def test_without_a_key_one_line_says_what_to_do(
    key: Any,
    files: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if key is not None:
        monkeypatch.setenv("MISTRAL_API_KEY", key)
    assert main(["ask", "Why?", str(files)]) == 2
    assert capsys.readouterr() == (
        "",
        "mistral_knowledge: no API key: set the environment variable MISTRAL_API_KEY, "
        "or try it with --offline\n",
    )


def test_the_library_that_was_made_is_kept_and_can_be_asked_again(
    files: pathlib.Path, online: KnowledgeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "Why is the sky blue?", str(files)]) == 0
    (library,) = online.libraries.list()
    assert lines(capsys.readouterr().err)[-1] == (
        f"kept the library; ask again with --library {library.id}"
    )
    assert main(["ask", "--library", library.id, "Why is the sea salty?"]) == 0
    out, err = capsys.readouterr()
    assert "rivers" in out
    assert "kept" not in err
    assert main(["ask", "--library", library.id, "Why?", str(files / "sky.md")]) == 0
    assert "sky.md: was already there" in lines(capsys.readouterr().err)


def test_the_library_that_was_made_is_deleted_on_request(
    files: pathlib.Path, online: KnowledgeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "--delete", "Why is the sky blue?", str(files)]) == 0
    assert lines(capsys.readouterr().err)[-1].startswith("deleted the library ")
    assert list(online.libraries.list()) == []


def test_a_library_that_was_named_is_never_deleted(
    online: KnowledgeClient, files: pathlib.Path
) -> None:
    library = online.libraries.create("Mine")
    assert main(["ask", "--delete", "--library", library.id, "Why?", str(files)]) == 0
    assert [one.id for one in online.libraries.list()] == [library.id]


@pytest.mark.parametrize(
    ("key", "library", "words"),
    [("wrong", None, "Unauthorized"), (KEY, ID, "Library not found")],
)
def test_a_refusal_is_one_line_and_code_1_and_shows_no_key(
    key: str,
    library: Any,
    words: str,
    files: pathlib.Path,
    online: KnowledgeClient,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", key)
    named = ["--library", library] if library else []
    assert main(["ask", *named, "Why?", str(files)]) == 1
    out, err = capsys.readouterr()
    assert (out, len(lines(err))) == ("", 1)
    assert err.startswith(f"mistral_knowledge: {words} (status 4")
    assert key not in err


def test_a_server_that_is_not_there_is_one_line_and_code_1(
    files: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Server(lambda connection: None) as server:
        url = server.url
    monkeypatch.setenv("MISTRAL_BASE_URL", url)
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    assert main(["ask", "Why?", str(files)]) == 1
    out, err = capsys.readouterr()
    assert (out, len(lines(err)), "no connection to 127.0.0.1" in err) == ("", 1, True)


# Ctrl-C


class Api:
    """A server that knows one library, and stalls where it is asked to."""

    def __init__(self, stall: str) -> None:
        self._stall = stall
        self.stalled = threading.Event()
        self.left = threading.Event()
        self.seen: List[str] = []

    def play(self, connection: Connection) -> None:
        while True:
            request = connection.request()
            if request is None:
                return
            self.seen.append(f"{request.method} {request.target}")
            if request.method == self._stall or request.target.endswith(self._stall):
                self._hold(connection, request)
                return
            body = json.dumps({"id": ID, "name": "x"}).encode()
            connection.send(head(content_type="application/json", content_length=len(body)) + body)

    def _hold(self, connection: Connection, request: Seen) -> None:
        if request.target.endswith("completions"):
            event = {"choices": [{"index": 0, "delta": {"content": "So far."}}]}
            connection.send(head(content_type="text/event-stream", transfer_encoding="chunked"))
            connection.send(chunk(b"data: %b\n\n" % json.dumps(event).encode()))
        self.stalled.set()
        connection.wait_for_end()
        self.left.set()


def until_it_waits(process: subprocess.Popen[str]) -> None:
    """Until the process sleeps in its read: a signal in the middle of making the reply would meet
    half-made objects of the standard library, which complain on stderr while they are dropped."""
    stat = pathlib.Path(f"/proc/{process.pid}/stat")
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "S":
        os.sched_yield()


@contextlib.contextmanager
def started(server: Server, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    own: Dict[str, str] = {"MISTRAL_API_KEY": KEY, "MISTRAL_BASE_URL": server.url}
    process = subprocess.Popen(
        python("-m", "mistral_knowledge", "ask", *arguments),
        env=python_environment(**own),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # A shell that runs tests in the background has SIGINT ignored in all its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("stall", "out"), [("GET", ""), ("/documents", ""), ("/chat/completions", "So far.")]
)
def test_ctrl_c_ends_it_at_once_with_code_130_and_hangs_up(
    stall: str, out: str, files: pathlib.Path
) -> None:
    api = Api(stall)
    upload = [str(files / "sky.md")] if stall == "/documents" else []
    with Server(api.play) as server, started(server, "--library", ID, "Why?", *upload) as process:
        assert api.stalled.wait(PATIENCE)
        if out:
            assert process.stdout is not None
            assert process.stdout.read(len(out)) == out
        until_it_waits(process)
        process.send_signal(signal.SIGINT)
        assert api.left.wait(PATIENCE)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert lines(err) == ["interrupted"]


def test_after_ctrl_c_the_library_is_still_deleted_on_request() -> None:
    pathlib.Path("a.txt").write_text("x")
    api = Api("/documents")
    with Server(api.play) as server, started(server, "--delete", "Why?", "a.txt") as process:
        assert api.stalled.wait(PATIENCE)
        until_it_waits(process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert lines(err) == [f"deleted the library {ID}", "interrupted"]
    assert api.seen[-1] == f"DELETE /v1/libraries/{ID}"


def test_a_library_that_cannot_be_deleted_does_not_hide_what_went_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(connection: Connection) -> None:
        request = connection.request()
        body = json.dumps(
            {"id": ID, "detail": f"{request.method} refused"} if request else {}
        ).encode()
        good = request is not None and request.target == "/v1/libraries"
        status = 201 if good else 403
        connection.send(head(status, content_length=len(body), connection="close") + body)

    pathlib.Path("a.txt").write_text("x")
    with Server(play) as server:
        monkeypatch.setenv("MISTRAL_BASE_URL", server.url)
        monkeypatch.setenv("MISTRAL_API_KEY", KEY)
        assert main(["ask", "--delete", "Why?", "a.txt"]) == 1
    assert lines(capsys.readouterr().err) == [
        f"the library {ID} could not be deleted: DELETE refused (status 403)",
        "mistral_knowledge: POST refused (status 403)",
    ]


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_costs_neither_the_answer_nor_the_exit_code(
    closed: int, files: pathlib.Path
) -> None:
    done = subprocess.run(
        python("-m", "mistral_knowledge", "ask", "--offline", "Why is the sky blue?", str(files)),
        env=python_environment(),
        stdout=None if closed == 1 else subprocess.PIPE,
        stderr=None if closed == 2 else subprocess.PIPE,
        preexec_fn=lambda: os.close(closed),
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0
    assert "Traceback" not in (done.stderr or "")
    assert closed == 1 or "blue" in done.stdout


def test_what_is_no_file_in_a_folder_or_leads_out_of_it_is_left_out_and_said(
    files: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(files / "pipe")
    (files / "broken").symlink_to(files / "nowhere")
    (files.parent / "secret.md").write_text("not in the folder")
    (files / "outside.md").symlink_to((files.parent / "secret.md").resolve())
    assert main(["ask", "--offline", "Why is the sky blue?", str(files)]) == 0
    said = capsys.readouterr().err.splitlines()
    assert [one.partition(":")[0] for one in said if "left out" in one] == [
        "broken",
        "outside.md",
        "pipe",
    ]


def test_what_a_terminal_would_obey_is_shown_and_not_done(
    files: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = files / "sky\x1b]0;owned\x07\x9b2J.md"
    evil.write_text("The sky is blue because of scattering.\n")
    assert main(["ask", "--offline", "Why is the sky blue?", str(evil)]) == 0
    assert main(["ask", "--offline", "Why?", f"{evil}?"]) == 2
    out, err = capsys.readouterr()
    assert [char for char in out + err if not char.isprintable() and char not in "\n\t"] == []
    shown = r"sky\x1b]0;owned\x07\x9b2J.md"
    # urllib3 1.26 escapes this one itself, in the header that names the file.
    assert f"[1] {shown}" in lines(out.replace("%07", r"\x07"))
    assert f"{shown}: ready" in lines(err)
    assert lines(err)[-1].endswith(f"{shown}?: there is no such file")


def test_an_answer_keeps_its_line_breaks_and_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    text = "a\r\nb\tc\x1b[1m"
    events = (
        f'data: {{"choices":[{{"delta":{{"content":{json.dumps(text)}}},"finish_reason":"stop"}}]}}'
    )
    script = [Scripted.events(events.encode() + b"\n\n")]
    client = KnowledgeClient(transport=FakeTransport(script=script))
    show_answer(client.rag.stream("Why?", libraries=ID))
    assert capsys.readouterr().out == "a\nb\tc\\x1b[1m\n\n"


def test_ctrl_c_while_the_command_is_loaded_is_quiet_and_code_130(
    run_python: Callable[..., Any],
) -> None:
    program = """
import runpy, sys
class Struck:
    def find_spec(self, name, path, target=None):
        if name == "mistral_knowledge.client":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Struck())
runpy.run_module("mistral_knowledge", run_name="__main__", alter_sys=True)
"""
    done = run_python("-c", program)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_of_many_files_only_those_left_out_are_named(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(12):
        (tmp_path / f"note{number}.md").write_text(f"The sky is blue, says note {number}.")
    (tmp_path / "odd.bin").write_bytes(b"\x00\xff\xfe\x80" * 10)
    assert main(["ask", "--offline", "What is the sky?", str(tmp_path)]) == 1
    said = [one for one in capsys.readouterr().err.splitlines() if not one.startswith("tokens")]
    assert said[0].startswith("odd.bin: left out, ")
    assert said[1:] == ["12 files are ready"]
