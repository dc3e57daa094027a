"""The in-memory API on a port, and a folder; the examples run in processes of their own."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Dict, Iterator

import pytest

from mistral_knowledge import KnowledgeClient
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
KEY = "sk-live-0123456789"


@pytest.fixture
def url() -> Iterator[str]:
    with KnowledgeApi(api_key=KEY, polls_until_done=0) as api, serve(api) as server:
        yield server.url


@pytest.fixture
def client(url: str) -> Iterator[KnowledgeClient]:
    with KnowledgeClient(KEY, base_url=url) as made:
        yield made


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    place = tmp_path / "papers"
    for number in range(120):
        file = place / f"{number % 3}" / f"{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Number {number}.")
    return place


def environment(url: str, **more: Any) -> Dict[str, str]:
    """The environment of an example: without what the machine sets, with the served API."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MISTRAL_")}
    paths = os.pathsep.join([str(ROOT), str(EXAMPLES)])
    return {**kept, "PYTHONPATH": paths, "MISTRAL_BASE_URL": url, "MISTRAL_API_KEY": KEY, **more}
