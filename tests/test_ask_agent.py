"""`python -m mistral_knowledge ask --agent`: what leads to the answer, beside the answer."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any, List

import pytest

from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.__main__ import main
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve
from mistral_knowledge.notebook._terminal import show_answer
from mistral_knowledge.transports.fake import Scripted

QUESTION = "Why is the sky blue?"
KEY = "sk-live-0123456789"
PAGE = {"title": "Sky", "url": "https://sky.test", "text": "The sky is blue at noon."}
PLAN = "I will use document_library, then web_search_premium, and answer from what comes back."


@pytest.fixture
def sky() -> str:
    """The name of a document in the working directory."""
    pathlib.Path("sky.md").write_text("The sky is blue because of Rayleigh scattering.\n")
    return "sky.md"


@pytest.fixture
def watched(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """stderr is a terminal."""
    # Its class, since what catches the output may be another object in the test itself.
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True)


def ask(*arguments: str) -> int:
    return main(["ask", "--offline", *arguments])


def calls_in(err: str) -> List[str]:
    """The names of the tools whose calls were shown."""
    return [line.partition("(")[0] for line in err.splitlines() if line.endswith("})")]


def test_the_answer_is_on_stdout_and_the_tool_calls_are_on_stderr(
    sky: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("--agent", QUESTION, sky) == 0
    out, err = capsys.readouterr()
    assert out == "“The sky is blue because of Rayleigh scattering.”[1]\n\n[1] sky.md\n"
    assert calls_in(err) == ["document_library"]
    assert "\x1b" not in out + err


def test_research_shows_its_thinking_too_and_says_that_there_is_no_web(
    sky: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("--research", "--web-search", QUESTION, sky) == 0
    out, err = capsys.readouterr()
    assert PLAN in err.splitlines()
    assert calls_in(err) == ["document_library", "web_search_premium"]
    assert "Rayleigh" in out
    assert "There is no web here" in out


def test_without_the_flag_no_tool_is_shown(sky: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(QUESTION, sky) == 0
    assert calls_in(capsys.readouterr().err) == []


@pytest.mark.parametrize("flag", ["--web-search", "--research"])
def test_the_web_can_be_asked_without_files(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(flag, QUESTION) == 0
    assert "There is no web here" in capsys.readouterr().out


def test_an_agent_without_files_library_or_web_has_nothing_to_ask(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ask("--agent", QUESTION) == 2
    assert "nothing to ask" in capsys.readouterr().err


def test_pages_of_the_web_are_named_with_their_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with KnowledgeApi(api_key=KEY, web_pages=[PAGE]) as api, serve(api) as server:
        monkeypatch.setenv("MISTRAL_BASE_URL", server.url)
        monkeypatch.setenv("MISTRAL_API_KEY", KEY)
        assert main(["ask", "--agent", "--web-search", QUESTION]) == 0
    out, err = capsys.readouterr()
    assert out == "“The sky is blue at noon.”[1]\n\n[1] Sky <https://sky.test>\n"
    assert calls_in(err) == ["web_search"]


def test_on_a_terminal_what_leads_to_the_answer_is_dimmed(
    sky: str, watched: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("--research", QUESTION, sky) == 0
    out, err = capsys.readouterr()
    assert "\x1b[2mI" in err
    assert err.count("\x1b[2m") == err.count("\x1b[0m") > 2
    assert "\x1b" not in out


# the order of lines


def event(kind: str, **fields: Any) -> str:
    return f"data: {json.dumps({'type': kind, **fields})}\n\n"


def message(content: Any) -> str:
    return event("message.output.delta", id="msg_1", content=content)


def thought(text: str) -> str:
    return message({"type": "thinking", "thinking": [{"type": "text", "text": text}]})


def call(arguments: str) -> str:
    fields = {"id": "t", "name": "look", "arguments": arguments}
    return event("tool.execution.started", **fields) + event("tool.execution.done", id="t")


def shown(capsys: pytest.CaptureFixture[str], *events: str) -> str:
    """What is on stderr while an answer of these events comes, its last line excepted."""
    body = "".join([*events, event("conversation.response.done", usage={})])
    fake = FakeTransport(script=[Scripted.events(body.encode())])
    agent = KnowledgeClient(transport=fake, retries=0).rag.agent
    show_answer(agent.stream("Why?", web_search=True))
    return capsys.readouterr().err.rpartition("tokens: ")[0]


def test_each_thought_and_each_call_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    events = [thought("a"), thought("b"), call("{}"), call("{}"), thought("c"), message("x")]
    assert shown(capsys, *events) == "ab\nlook({})\nlook({})\nc\n"


def test_on_a_terminal_it_begins_on_a_line_of_its_own(
    watched: None, capsys: pytest.CaptureFixture[str]
) -> None:
    err = shown(capsys, message("x"), call("{}"), call("{}"), message("y\n"), call("{}"))
    line = "\x1b[2mlook({})\x1b[0m\n"
    assert err.startswith(f"\n{line}{line}{line}")


def test_a_long_call_is_shown_shortened_and_on_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (line,) = shown(capsys, call("a\nb " * 200)).splitlines()
    assert line.startswith("look(a b a b")
    assert (len(line), line[-3:]) == (203, "...")
