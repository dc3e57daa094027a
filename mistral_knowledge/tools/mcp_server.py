"""The tools as an MCP server: what a host lists, calls, follows and stops.

The only asynchronous module: the `mcp` package is. Each call runs in a thread of its own. It needs
Python 3.10 and `pip install "mistral-knowledge[mcp]"`, and is imported only by those who have them.
"""

from __future__ import annotations

import functools
import time
from typing import Any, Callable, Dict, List, Optional

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from .._version import __version__
from ..abort import AbortSignal
from ._failures import unknown
from .result import ToolResult
from .tool import KnowledgeTool

SECONDS_BETWEEN_UPDATES = 0.1
MOST_CALLS = 32  # at a time; others wait
INSTRUCTIONS = (
    "Libraries of documents at Mistral: list them, upload documents into them, and ask questions, "
    "which are answered with citations. Say what costs money before you do it."
)

Context = ServerRequestContext[Dict[str, Any]]


def mcp_server(tools: List[KnowledgeTool]) -> Server[Dict[str, Any]]:
    """A server of `tools`, for any transport of the `mcp` package."""
    by_name = {tool.name: tool for tool in tools}
    # Not the default one: stdio is read and written in its threads, by which a call is cancelled.
    threads = anyio.CapacityLimiter(MOST_CALLS)

    async def list_tools(
        _: Context, __: Optional[types.PaginatedRequestParams]
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in tools])

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            return _told(unknown(params.name, by_name))
        signal = AbortSignal()
        progress = _Progress(context)
        execute = functools.partial(tool.execute, params.arguments or {}, signal, progress)
        return _told(await _in_thread(execute, signal, threads))

    return Server(
        "mistral_knowledge",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_stdio(tools: List[KnowledgeTool]) -> None:
    """Serve `tools` over stdin and stdout until stdin ends."""
    server = mcp_server(tools)

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)


async def _in_thread(
    execute: Callable[[], ToolResult], signal: AbortSignal, threads: anyio.CapacityLimiter
) -> ToolResult:
    """Run a call in a thread; where the host cancels it, end what it does upstream."""
    try:
        return await anyio.to_thread.run_sync(execute, abandon_on_cancel=True, limiter=threads)
    finally:
        signal.abort()


class _Progress:
    """Sends the text so far as progress; not for every token, the text would be sent over and over.

    It is called in the thread of the call.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._next = 0.0
        self._sent = 0

    def __call__(self, partial: ToolResult) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + SECONDS_BETWEEN_UPDATES
        self._sent += 1
        report = self._context.session.report_progress
        anyio.from_thread.run(report, self._sent, None, partial.content)


def _listed(tool: KnowledgeTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.parameters,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=True,
        ),
    )


def _told(result: ToolResult) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=result.content)],
        structured_content=result.structured_content,
        is_error=result.is_error,
    )
