"""docs/coming-from.md: what stands in one row of its tables does the same."""

from __future__ import annotations

import io
import pathlib
import random
import re
import uuid
from typing import Any, Dict, List, Tuple

import pytest
from mistralai.client import Mistral

from mistral_knowledge import KnowledgeClient
from mistral_knowledge.fake_api.server import serve

from .equal import plain, same
from .operations import ASKED, KEY, MODEL, OPERATIONS, PARTNER, QUESTION, World, new_api, world_in

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "coming-from.md"
_ROW = re.compile(r"^\| `([^`]+)`[^|]*\| `([^`]+)`[^|]*\|$", re.MULTILINE)


def rows_under(heading: str) -> List[Tuple[str, str]]:
    """(left, right) of each row of the first table of a section: the code that comes first."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = section.split("| you write | here |\n|---|---|\n")[1].split("\n\n")[0]
    rows = _ROW.findall(table + "\n")
    assert len(rows) == len(table.strip().splitlines())
    return [(left, right) for left, right in rows]


MISTRALAI = rows_under("From `mistralai`")
CONSTRUCTORS, *CALLS = MISTRALAI


def room_and_method(left: str) -> str:
    return ".".join(left.partition("(")[0].split(".")[-2:])


def names_for(world: World, left: str) -> Dict[str, Any]:
    """The names that the rows use."""
    return {
        "n": "other.txt",
        "f": io.BytesIO(b"Sound travels at 343 m/s."),
        "i": world.file if left.startswith("m.files.") else world.library,
        "d": world.document,
        "u": "33333333-3333-4333-8333-333333333333" if "_or_create" in left else PARTNER,
        "c": world.conversation,
        "e": world.entry,
        "question": QUESTION,
        "messages": ASKED,
        "model": MODEL,
        "tools": world.tools,
    }


@pytest.fixture
def ids(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Called before each side, so that the API gives both of them the same ids."""

    def begin() -> None:
        chance = random.Random(7)
        made = lambda: uuid.UUID(int=chance.getrandbits(128), version=4)  # noqa: E731
        monkeypatch.setattr(uuid, "uuid4", made)

    return begin


def test_both_clients_are_made_from_a_key() -> None:
    left, right = CONSTRUCTORS
    made = eval(left, {"Mistral": Mistral, "key": KEY})
    ours = eval(right, {"KnowledgeClient": KnowledgeClient, "key": KEY})
    assert (type(made), type(ours)) == (Mistral, KnowledgeClient)


@pytest.mark.parametrize(("left", "right"), CALLS, ids=[left for left, _ in CALLS])
def test_both_sides_of_a_row_give_the_same(left: str, right: str, ids: Any) -> None:
    ids()
    with new_api() as api:
        names = names_for(world_in(api), left)
        with serve(api) as server, Mistral(api_key=KEY, server_url=server.url) as m:
            theirs = plain(eval(left, {"m": m, **names}))
    ids()
    with new_api() as api:
        names = names_for(world_in(api), left)
        with serve(api) as server, KnowledgeClient(KEY, base_url=server.url) as client:
            ours = plain(eval(right, {"client": client, **names}))
    same(ours, theirs)


def test_every_operation_has_a_row() -> None:
    rows = [room_and_method(left) for left, _ in CALLS]
    assert len(rows) == len(set(rows))
    assert set(rows) == {operation.name.split()[0] for operation in OPERATIONS}
