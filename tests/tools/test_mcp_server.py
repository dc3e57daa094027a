"""The MCP server, driven by the `mcp` package's own client: in this process, and as a command."""

from __future__ import annotations

import json
import logging
import pathlib
import signal
import subprocess
import sys
import threading
from typing import Any, Callable, Coroutine, Dict, List

import anyio
import jsonschema
import pytest
from mcp import Client, StdioServerParameters

from mistral_knowledge import FakeTransport, KnowledgeClient, Library
from mistral_knowledge._loopback import Connection, Server, chunk as http_chunk, head
from mistral_knowledge.tools import knowledge_tools
from mistral_knowledge.tools.mcp_server import mcp_server
from mistral_knowledge.transports.fake import Scripted, Stall

from ..answers.wire import chunk, sse
from ..conftest import python_environment
from .conftest import QUESTION, every_call
from .test_tools import ID, NAMES, READ_ONLY

QUERY = {"question": QUESTION, "library_ids": [ID]}


def alive(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs `work`; what hangs fails."""

    async def limited() -> None:
        with anyio.fail_after(60):
            await work()

    anyio.run(limited)


def command(*arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "mistral_knowledge", "mcp", *arguments],
        env=python_environment(),
    )


def test_a_host_is_told_all_about_the_tools(client: KnowledgeClient) -> None:
    tools = knowledge_tools(client)

    async def work() -> None:
        async with Client(mcp_server(tools)) as host:
            listed = (await host.list_tools()).tools
        assert [one.name for one in listed] == NAMES
        for one, tool in zip(listed, tools):
            assert (one.input_schema, one.output_schema) == (tool.parameters, tool.output_schema)
            assert one.annotations is not None
            assert one.annotations.read_only_hint is (one.name in READ_ONLY)
            assert one.annotations.destructive_hint is False
            assert one.annotations.idempotent_hint is tool.idempotent

    alive(work)


def test_every_tool_can_be_called(client: KnowledgeClient, library: Library) -> None:
    tools = knowledge_tools(client)

    async def work() -> None:
        async with Client(mcp_server(tools)) as host:
            await host.list_tools()
            for tool, arguments in zip(tools, every_call(client, library)):
                result = await host.call_tool(tool.name, arguments)
                assert result.is_error is False
                assert result.content[0].text.strip()
                jsonschema.validate(result.structured_content, tool.output_schema)

    alive(work)


def test_bad_arguments_are_an_error_that_says_what_to_do(client: KnowledgeClient) -> None:
    async def work() -> None:
        async with Client(mcp_server(knowledge_tools(client))) as host:
            await host.list_tools()
            result = await host.call_tool("mistral_library_create", {"nam": 5})
            unknown = await host.call_tool("mistral_nothing", {})
        assert (result.is_error, result.structured_content) == (True, None)
        assert "did you mean name?" in result.content[0].text
        assert "there is no tool 'mistral_nothing'" in unknown.content[0].text

    alive(work)


def test_a_streamed_answer_sends_its_text_so_far_as_progress(
    client: KnowledgeClient, library: Library
) -> None:
    seen: List[str] = []

    async def progress(done: float, total: Any, message: Any) -> None:
        seen.append(message)

    async def work() -> None:
        async with Client(mcp_server(knowledge_tools(client)), mode="legacy") as host:
            result = await host.call_tool(
                "mistral_document_query",
                {**QUERY, "library_ids": [library.id]},
                progress_callback=progress,
            )
        assert "The sky is blue" in result.content[0].text

    alive(work)
    assert seen
    assert "“The sky is blue.".startswith(seen[0])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_cancelled_call_ends_the_transfer_upstream(mode: Any) -> None:
    stall = Stall()
    fake = FakeTransport(script=[Scripted.events(sse(chunk("Half ")), stall)])
    ended = threading.Event()
    tools = knowledge_tools(KnowledgeClient(transport=fake))
    real = tools[-1].execute

    def execute(*arguments: Any) -> Any:
        result = real(*arguments)
        assert result.details["aborted"] is True
        ended.set()
        return result

    tools[-1].execute = execute  # type: ignore[method-assign]

    async def work() -> None:
        async with Client(mcp_server(tools), mode=mode) as host:
            async with anyio.create_task_group() as group:
                group.start_soon(host.call_tool, "mistral_document_query", QUERY)
                assert await anyio.to_thread.run_sync(stall.reached.wait, 30)
                group.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(ended.wait, 30)
            assert fake.requests[0].reply_closed is True
            # The server goes on serving.
            assert (await host.list_tools()).tools

    alive(work)


def test_calls_leave_the_threads_alone_that_read_and_write_stdio() -> None:
    stall = Stall()
    fake = FakeTransport(script=[Scripted.events(sse(chunk("Half ")), stall)])
    tools = knowledge_tools(KnowledgeClient(transport=fake))

    async def work() -> None:
        async with Client(mcp_server(tools)) as host, anyio.create_task_group() as group:
            group.start_soon(host.call_tool, "mistral_document_query", QUERY)
            assert await anyio.to_thread.run_sync(stall.reached.wait, 30)
            assert anyio.to_thread.current_default_thread_limiter().borrowed_tokens == 0
            group.cancel_scope.cancel()

    alive(work)


def test_an_odd_character_of_a_server_does_not_end_the_command() -> None:
    odd = json.dumps({"id": ID, "name": "a\ud800b"}).encode()

    def play(connection: Connection) -> None:
        connection.request()
        connection.send(head(content_type="application/json", content_length=len(odd)) + odd)
        connection.wait_for_end()

    async def work(environment: Dict[str, str]) -> None:
        server = command()
        server.env = {**(server.env or {}), **environment}
        async with Client(server) as host:
            result = await host.call_tool("mistral_library_create", {"name": "x"})
        assert "a?b" in result.content[0].text

    with Server(play) as api:
        own = {"MISTRAL_BASE_URL": api.url, "MISTRAL_API_KEY": "sk-test"}
        alive(lambda: work(own))


def test_a_ctrl_c_ends_the_command_while_it_waits_for_a_host() -> None:
    asking = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    started = command("--offline")
    process = subprocess.Popen(
        [started.command, *started.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=started.env,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asking).encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(30) == -signal.SIGINT
        finally:
            process.kill()


def test_the_command_serves_a_host_over_stdio(
    root: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    (root / "sky.txt").write_text("The sky is blue. Birds fly in it.")
    (root.parent / "secret.txt").write_text("x")
    seen: List[str] = []

    async def progress(done: float, total: Any, message: Any) -> None:
        seen.append(message)

    async def work() -> None:
        async with Client(command("--offline", "--root", str(root))) as host:
            names = [tool.name for tool in (await host.list_tools()).tools]
            assert names == NAMES

            async def call(name: str, /, **arguments: Any) -> Dict[str, Any]:
                result = await host.call_tool(
                    f"mistral_{name}", arguments, progress_callback=progress
                )
                assert result.is_error is False, result.content[0].text
                return dict(result.structured_content or {})

            ids = {"library_id": (await call("library_create", name="Notes"))["id"]}
            await call("file_upload", path="sky.txt")
            await call("library_list")
            ids["document_id"] = (await call("document_upload", path="sky.txt", **ids))[
                "document_id"
            ]
            while not (await call("document_status", **ids))["ready"]:
                pass
            await call("document_list", library_id=ids["library_id"])
            await call("document_signed_url", **ids)
            await call("document_reprocess", **ids)
            while not (await call("document_status", **ids))["ready"]:
                pass
            libraries = [ids["library_id"]]
            told = await call("document_query", question=QUESTION, library_ids=libraries)
            assert "The sky is blue" in told["text"]

            outside = await host.call_tool("mistral_file_upload", {"path": "../secret.txt"})
            assert "no such file below" in outside.content[0].text

    with caplog.at_level(logging.WARNING):
        alive(work)
    assert seen
    # The client logs every line of stdout that is not of the protocol.
    assert caplog.messages == []


def test_the_command_can_be_read_only() -> None:
    async def work() -> None:
        async with Client(command("--offline", "--read-only")) as host:
            assert [tool.name for tool in (await host.list_tools()).tools] == READ_ONLY

    alive(work)


def test_a_missing_key_is_told_by_the_call() -> None:
    async def work() -> None:
        async with Client(command()) as host:
            result = await host.call_tool("mistral_library_list", {})
        assert "MISTRAL_API_KEY" in result.content[0].text

    alive(work)


def test_a_call_that_is_cancelled_over_stdio_hangs_up_on_the_api() -> None:
    asked, hung_up = threading.Event(), threading.Event()

    def play(connection: Connection) -> None:
        connection.request()
        connection.send(head(content_type="text/event-stream", transfer_encoding="chunked"))
        connection.send(http_chunk(sse(chunk("Half "))))
        asked.set()
        connection.wait_for_end()
        hung_up.set()

    async def work(environment: Dict[str, str]) -> None:
        server = command()
        server.env = {**(server.env or {}), **environment}
        async with Client(server) as host:
            async with anyio.create_task_group() as group:
                group.start_soon(host.call_tool, "mistral_document_query", QUERY)
                assert await anyio.to_thread.run_sync(asked.wait, 30)
                group.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(hung_up.wait, 30)

    with Server(play) as api:
        own = {"MISTRAL_BASE_URL": api.url, "MISTRAL_API_KEY": "sk-test"}
        alive(lambda: work(own))
