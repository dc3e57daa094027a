"""Who is measured, and the server that all of them talk to."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parent.parent
KEY = "benchmark-key-that-opens-nothing"


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """The base URL of a running server; it has a process, and so a GIL, of its own."""
    with python("-m", "benchmarks.server", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()


def python(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """This Python with `arguments`, in the repository, its output to be read."""
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, **options)


def output_of(*arguments: str) -> str:
    """What this Python prints when it is run with `arguments`."""
    with python(*arguments) as process:
        output = process.communicate()[0]
    if process.returncode:
        raise ChildProcessError(f"python {arguments[0]} ended with {process.returncode}")
    return output


def ours(url: str) -> Any:
    """Our client; the settings of this machine play no part."""
    from mistral_knowledge import KnowledgeClient
    from mistral_knowledge.settings import Settings

    return KnowledgeClient(KEY, base_url=url, streaming=True, settings=Settings())


def official(url: str) -> Any:
    """The official SDK's client."""
    from mistralai.client import Mistral

    return Mistral(api_key=KEY, server_url=url)


def has_r2r() -> bool:
    """Whether R2R's client is there; not every Python has it."""
    return importlib.util.find_spec("r2r") is not None


def session() -> Any:
    """A session of requests that looks at nothing in the environment."""
    import requests

    session = requests.Session()
    session.trust_env = False
    return session
