"""README.md and docs/*.md say what is so: their code runs, their links lead somewhere.

A page's Python blocks run in order, in one namespace and without a network. Two comments may stand
directly above a block: `<!-- not run: why -->` (Python is then only compiled) and, above a `text`
block, `<!-- output -->` (it is what the last Python block prints). Lines that begin with
`python -m mistral_knowledge` in `sh` blocks run too.
"""

import contextlib
import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from configparser import ConfigParser
from pathlib import Path

import attr
import pytest

import mistral_knowledge
from mistral_knowledge import errors
from mistral_knowledge.testing import TransportContract

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mistral_knowledge"  # where pages take it to be; it may be installed
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = "python -m mistral_knowledge "
SERVERS = ("fake-server", "relay")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PATIENCE = 60  # seconds after which a command that hangs fails

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- (not run|output)\b.*-->\n\Z")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@attr.s(auto_attribs=True, frozen=True)
class Block:
    language: str
    code: str
    mark: str
    line: int


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        mark = _MARK.search(text[: match.start()])
        line = text.count("\n", 0, match.start(2))
        yield Block(match.group(1), match.group(2), mark.group(1) if mark else "", line)


def each_page(function):
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)(function)


@pytest.fixture
def offline(monkeypatch):
    """No network beyond this machine."""
    for method in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, method, _only_loopback(method))


def _only_loopback(method):
    real = getattr(socket.socket, method)

    def guarded(sock, address):
        if isinstance(address, tuple):
            assert address[0] in LOOPBACK, f"a block of the docs connects to {address[0]}"
        return real(sock, address)

    return guarded


@each_page
def test_the_python_blocks_run_and_print_what_the_page_says(page, offline):
    namespace = {"__name__": "docs"}
    printed = ""
    for block in blocks_of(page):
        if block.language == "python":
            code = compile("\n" * block.line + block.code, str(page), "exec")
            if block.mark != "not run":
                printed = _run(code, namespace)
        elif block.mark == "output":
            assert printed.strip() == block.code.strip(), f"{page.name}, line {block.line}"
    for value in list(namespace.values()):
        _run_contract(value)


def _run(code, namespace):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, namespace)
    return out.getvalue()


def _run_contract(value):
    """Run the tests of a contract that the page inherits, as pytest would."""
    if not isinstance(value, type) or not issubclass(value, TransportContract):
        return
    if value is not TransportContract:
        for name in dir(value):
            if name.startswith("test_"):
                getattr(value(), name)()


def commands():
    for page in PAGES:
        for block in blocks_of(page):
            if block.language == "sh" and block.mark != "not run":
                for line in block.code.replace("\\\n", " ").splitlines():
                    if line.startswith(COMMAND):
                        yield pytest.param(line, id=f"{page.name}: {line[len(COMMAND) :]}")


@pytest.mark.parametrize("line", list(commands()))
def test_the_commands_run(line, tmp_path):
    arguments = [sys.executable, *shlex.split(line, comments=True)[1:]]
    serves = line[len(COMMAND) :].startswith(SERVERS)
    process = subprocess.Popen(
        _on_a_free_port(arguments) if serves else arguments,
        cwd=str(ROOT if "fake-server" not in line else tmp_path),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        if serves:
            said = b""
            while b"serving on http://127.0.0.1:" not in said:
                more = process.stderr.readline()
                assert more, said
                said += more
            process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    finally:
        timer.cancel()
        process.kill()
    assert process.returncode == 0, err.decode("utf-8", "replace")
    assert out.strip() or serves


def _on_a_free_port(arguments):
    if "--port" not in arguments:
        return [*arguments, "--port", "0"]
    place = arguments.index("--port") + 1
    return [*arguments[:place], "0", *arguments[place + 1 :]]


@each_page
def test_the_links_within_the_repository_lead_somewhere(page):
    dead = [
        target
        for target in _LINK.findall(_without_code(page.read_text(encoding="utf-8")))
        if "://" not in target and not _leads_somewhere(page, target)
    ]
    assert dead == []


def _without_code(text):
    return re.sub(r"`[^`\n]*`", "", _BLOCK.sub("", text))


def _leads_somewhere(page, target):
    path, _, anchor = target.partition("#")
    goal = (page.parent / path).resolve() if path else page
    if PACKAGE in goal.parents:
        goal = Path(mistral_knowledge.__file__).parent / goal.relative_to(PACKAGE)
    return goal.exists() and (not anchor or anchor in _anchors(goal))


def _anchors(page):
    """The ids that headings get: lower case, blanks to hyphens, punctuation left out."""
    headings = re.findall(r"^#+ +(.+)$", _BLOCK.sub("", page.read_text("utf-8")), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def test_every_page_can_be_reached_from_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"({page.name})" not in index + "(index.md)"] == []


def test_every_public_name_is_spoken_of():
    words = set(re.findall(r"\w+", "".join(page.read_text(encoding="utf-8") for page in PAGES)))
    assert [name for name in mistral_knowledge.__all__ if name not in words] == ["__version__"]


def test_every_error_is_on_the_page_of_errors():
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    kinds = [value for value in vars(errors).values() if isinstance(value, type)]
    names = [kind.__name__ for kind in kinds if issubclass(kind, errors.KnowledgeError)]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_every_dependency_is_explained_with_its_lower_bound():
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    config = ConfigParser()
    config.read(str(ROOT / "setup.cfg"), encoding="utf-8")
    extras = config["options.extras_require"]
    lists = [config["options"]["install_requires"], *(extras[name] for name in extras)]
    needed = [
        re.sub(r"\[.*\]", "", line.split(";")[0].strip())
        for lines in lists
        for line in lines.splitlines()
        if line
    ]
    explained = {
        "".join(pair) for pair in re.findall(r"^\| `([\w-]+)` \| `?(>=[\d.]+|)", text, re.M)
    }
    assert [line for line in needed if line not in explained] == []


def test_the_make_targets_of_the_pages_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {
        target
        for page in PAGES
        for block in blocks_of(page)
        if block.language == "sh"
        for target in re.findall(r"^make ([\w-]+)", block.code, re.MULTILINE)
    }
    assert {"demo", "test"} <= named
    assert [target for target in sorted(named) if f"\n{target}:" not in makefile] == []
