"""Every test stands alone: no settings, keys, proxies or files of the machine reach it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any, Callable, Dict, Iterator, List

import pytest
from hypothesis import settings

import mistral_knowledge
from mistral_knowledge import FakeTransport, KnowledgeClient, Retry
from mistral_knowledge.fake_api import KnowledgeApi

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Where the package that is tested is: here, or installed.
HOME = pathlib.Path(mistral_knowledge.__file__).resolve().parents[1]

# Nothing in a test waits between two tries.
AT_ONCE = Retry(2, backoff=0)

# A busy machine is no reason to fail.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

_OURS = ("MISTRAL_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NETRC")
_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_HOMES = ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA")


@pytest.fixture(autouse=True)
def _isolated(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith(_OURS) or name in _BUNDLES:
            monkeypatch.delenv(name)
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    for name in _HOMES:
        monkeypatch.setenv(name, str(home))
    monkeypatch.chdir(work)


@pytest.fixture
def api() -> Iterator[KnowledgeApi]:
    """The in-memory API; documents are processed as soon as they are uploaded."""
    with KnowledgeApi(polls_until_done=0, seed=7) as made:
        yield made


@pytest.fixture
def fake(api: KnowledgeApi) -> FakeTransport:
    return FakeTransport(api)


@pytest.fixture
def client(fake: FakeTransport) -> KnowledgeClient:
    return KnowledgeClient(transport=fake, retries=AT_ONCE)


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs this Python on the package, away from the repository; warnings are errors there too."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            python(*arguments),
            env=python_environment(**environment),
            capture_output=True,
            encoding="utf-8",
            timeout=30,
            check=False,
        )

    return run


def python(*arguments: str) -> List[str]:
    """The command line of this Python."""
    return [sys.executable, "-W", "error", *arguments]


def python_environment(**more: str) -> Dict[str, str]:
    """The environment of a subprocess that finds the package."""
    own: Dict[str, Any] = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(HOME)]),
        "PYTHONIOENCODING": "utf-8",
    }
    return {**os.environ, **own, **more}
