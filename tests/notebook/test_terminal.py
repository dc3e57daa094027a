"""`show` in a terminal prints, and bars stay away from stdout."""

from __future__ import annotations

import pathlib
import sys
from typing import List, Optional, Tuple

import pytest

from mistral_knowledge import AnswerTruncatedError, FakeTransport, KnowledgeClient, Library
from mistral_knowledge.transports.fake import Scripted

from ..answers.wire import chunk, good, sse

ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"


def test_an_answer_is_printed_and_returned(capsys: pytest.CaptureFixture[str]) -> None:
    client = KnowledgeClient(transport=FakeTransport(script=[Scripted.events(good("Yes."))]))
    answer = client.rag.show("?", libraries=ID)
    assert answer.text == "Yes."
    assert capsys.readouterr().out.strip() == "Yes."


def test_the_agent_has_it_too(client: KnowledgeClient, capsys: pytest.CaptureFixture[str]) -> None:
    library = client.libraries.create("Notes")
    client.documents.upload(library, ("sky.txt", "The sky is blue."))
    answer = client.rag.agent.show("What colour is the sky?", libraries=library)
    assert answer.conversation_id is not None
    assert "[1] sky.txt" in capsys.readouterr().out


def test_an_answer_that_stops_raises(capsys: pytest.CaptureFixture[str]) -> None:
    half = Scripted.events(sse(chunk("Half ")))
    client = KnowledgeClient(transport=FakeTransport(script=[half]))
    with pytest.raises(AnswerTruncatedError):
        client.rag.show("?", libraries=ID)
    assert "Half" in capsys.readouterr().out


def test_a_bar_shows_beside_the_callers_own_function(
    client: KnowledgeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    library = client.libraries.create("Notes")
    seen: List[Tuple[int, Optional[int]]] = []
    client.documents.upload(
        library,
        ("a.txt", b"x" * 1000),
        wait=True,
        progress=True,
        on_progress=lambda sent, total: seen.append((sent, total)),
    )
    out, err = capsys.readouterr()
    assert seen == [(1000, 1000)]
    assert out == ""
    assert "a.txt: 100%" in err
    assert "a.txt: done" in err


def test_without_tqdm_nothing_is_shown(
    client: KnowledgeClient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    library: Library = client.libraries.create("Notes")
    client.documents.upload(library, ("a.txt", b"x"), wait=True, progress=True)
    assert tuple(capsys.readouterr()) == ("", "")


def test_many_files_have_a_bar_too(
    client: KnowledgeClient, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.md").write_text(f"note {number}")
    library = client.libraries.create("Notes")
    with client.documents.upload_many(library, tmp_path, pattern="*.md", progress=True) as uploads:
        assert sorted(outcome.status for outcome in uploads) == ["uploaded"] * 3
    report = client.libraries.sync(tmp_path, library, pattern="*.md", progress=True)
    assert report.ok
    out, err = capsys.readouterr()
    assert out == ""
    assert "upload: 3 files" in err
    assert "sync: 0 steps" in err
