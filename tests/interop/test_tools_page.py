"""The function-calling loop of docs/tools.md runs as printed, against the served in-memory API."""

from __future__ import annotations

import pathlib
import re
from typing import Any, List

import mistralai.client
import pytest

from mistral_knowledge import KnowledgeClient
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve
from mistral_knowledge.tools import dispatch, knowledge_tools

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tools.md"
_BLOCK = re.compile(r"^```python\n(from mistralai\.client .*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The address of an API with one library; clients made without one go there."""
    real = mistralai.client.Mistral
    with KnowledgeApi(polls_until_done=0, seed=7) as api, serve(api) as server:
        monkeypatch.setenv("MISTRAL_BASE_URL", server.url)
        monkeypatch.setenv("MISTRAL_API_KEY", "only-a-test")
        made = lambda api_key: real(api_key=api_key, server_url=server.url)  # noqa: E731
        monkeypatch.setattr(mistralai.client, "Mistral", made)
        with KnowledgeClient() as client:
            client.libraries.create("Physics")
        yield server.url


def test_the_loop_on_the_page_calls_a_tool_and_ends_in_an_answer(
    served: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    names: Any = {}
    exec(code, names)
    out = capsys.readouterr().out
    assert "mistral_library_list gave: " in out
    assert "Physics" in out
    kinds = [one["role"] if isinstance(one, dict) else one.role for one in names["messages"]]
    assert kinds == ["user", "assistant", "tool", "assistant"]


def test_a_streamed_call_of_the_official_sdk_is_run_as_well(served: str) -> None:
    with mistralai.client.Mistral(api_key="k") as official, KnowledgeClient() as client:
        tools = knowledge_tools(client)
        stream = official.chat.stream(
            model="mistral-medium-latest",
            messages=[{"role": "user", "content": "Look at mistral_library_list, please."}],
            tools=[tool.as_function() for tool in tools],
        )
        with stream as events:
            calls: List[Any] = [
                call
                for event in events
                for choice in event.data.choices
                for call in choice.delta.tool_calls or []
            ]
        (message,) = (dispatch(tools, call) for call in calls)
    assert message["tool_call_id"] == calls[0].id
    assert "Physics" in message["content"]
