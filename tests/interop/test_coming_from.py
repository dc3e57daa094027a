"""docs/coming-from.md: what stands in one row of its tables does the same."""

from __future__ import annotations

import inspect
import io
import pathlib
import random
import re
import uuid
from typing import Any, Dict, Iterator, List, Tuple

import attr
import pytest
from mistralai.client import Mistral
from r2r import R2RClient

from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.fake_api.server import serve
from mistral_knowledge.relay import relay_app
from tests.relay.running import running

from .equal import plain, same
from .operations import (
    ASKED,
    KEY,
    MODEL,
    OPERATIONS,
    PARTNER,
    QUESTION,
    WEB,
    World,
    new_api,
    world_in,
)

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


# R2R: the left side asks the relay, the right side the API behind it.

MESSAGE = {"role": "user", "content": QUESTION}
R2R_ROWS = dict(rows_under("From R2R"))
STREAMED = 'client.retrieval.rag(query=q, rag_generation_config={"stream": True})'
AGENT = 'client.retrieval.agent(message=m, mode="research")'
CREATE = "client.documents.create(file_path=p)"
# Expressions of an event, and arguments, which stand for themselves in their rows.
EVENTS = {
    "event.data.delta.content[0].payload.value": "MessageEvent",
    "event.data.generated_answer": "FinalAnswerEvent",
}


@attr.s(auto_attribs=True)
class Sides:
    """Both clients over one library, and the names that the rows use on each side."""

    r2r: R2RClient
    ours: KnowledgeClient
    names: Dict[str, Any]

    def left(self, code: str, **names: Any) -> Any:
        return eval(code, {**self.names, "client": self.r2r, **names})

    def right(self, code: str, **names: Any) -> Any:
        return eval(code, {**self.names, "client": self.ours, **names})


@pytest.fixture
def sides() -> Iterator[Sides]:
    with new_api() as api:
        world = world_in(api)
        ours = KnowledgeClient(transport=FakeTransport(api))
        library = ours.libraries.get(world.library)
        with running(relay_app(ours, libraries=library)) as port:
            names = {"q": QUESTION, "m": MESSAGE, "library": library}
            yield Sides(R2RClient(f"http://localhost:{port}"), ours, names)


def test_every_row_of_the_r2r_table_is_tried_here() -> None:
    tried = [
        'R2RClient("http://localhost:7272")',
        STREAMED,
        "client.retrieval.rag(query=q)",
        "include_web_search=True",
        AGENT,
        "conversation_id=c",
        *EVENTS,
        CREATE,
    ]
    assert list(R2R_ROWS) == tried


def test_an_r2r_client_is_made_as_the_row_says(sides: Sides) -> None:
    left, right = next(iter(R2R_ROWS.items()))
    assert isinstance(eval(left, {"R2RClient": R2RClient}), R2RClient)
    assert isinstance(eval(right, {"KnowledgeClient": KnowledgeClient}), KnowledgeClient)


@pytest.mark.parametrize("left", list(EVENTS))
def test_what_an_event_holds_is_found_by_both_expressions(sides: Sides, left: str) -> None:
    kind, right = EVENTS[left], R2R_ROWS[left]
    theirs = [one for one in sides.left(STREAMED) if type(one).__name__ == kind]
    with sides.right(R2R_ROWS[STREAMED]) as stream:
        ours = [one for one in stream if type(one).__name__ == kind]
    told = "".join(eval(left, {"event": event}) for event in theirs)
    assert told
    assert told == "".join(eval(right, {"event": event}) for event in ours)
    assert told == "".join(eval(left, {"event": event}) for event in ours)


def test_a_question_in_one_piece_gives_the_same_answer(sides: Sides) -> None:
    left = "client.retrieval.rag(query=q)"
    reply = sides.left(left).results
    answer = sides.right(R2R_ROWS[left])
    assert reply.generated_answer == answer.text
    cited = {one.payload["id"] for one in reply.citations}
    assert len(cited) == len(answer.sources) > 0


def test_the_web_is_searched_by_both(sides: Sides) -> None:
    left = "include_web_search=True"
    reply = sides.left(f"client.retrieval.rag(query=q, {left})").results
    answer = sides.right(f"client.rag.query(q, libraries=library, {R2R_ROWS[left]})")
    assert reply.generated_answer == answer.text
    assert [one.link for one in reply.search_results.web_page_search_results] == [WEB["url"]]


def test_an_agent_answers_the_same_and_goes_on(sides: Sides) -> None:
    reply = sides.left(AGENT).results
    with sides.right(R2R_ROWS[AGENT]) as stream:
        answer = stream.get_answer()
    assert reply.messages[-1].content == answer.text
    further = {"c": reply.conversation_id, "answer": answer}
    theirs = sides.left("client.retrieval.agent(message=m, conversation_id=c)", **further).results
    ours = sides.right(f"client.rag.agent.query(q, {R2R_ROWS['conversation_id=c']})", **further)
    assert theirs.conversation_id == reply.conversation_id
    assert ours.conversation_id == answer.conversation_id
    assert theirs.messages[-1].content == ours.text


def test_a_document_is_uploaded_where_r2r_creates_one(sides: Sides, tmp_path: Any) -> None:
    path = tmp_path / "sound.txt"
    path.write_text("Sound travels at 343 m/s.")
    # The relay answers questions only, so the left side is held against the client's signature.
    inspect.signature(R2RClient().documents.create).bind(file_path=str(path))
    assert sides.right(R2R_ROWS[CREATE], p=path).name == "sound.txt"
