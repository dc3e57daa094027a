"""From a model's tool calls to tools, and back to the messages that answer them."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple

from .._json import read_json
from ..abort import AbortSignal
from ..errors import InvalidArgumentError
from ._failures import unknown
from .result import OnUpdate, ToolResult, error_result
from .tool import KnowledgeTool


def dispatch(
    tools: Iterable[KnowledgeTool],
    tool_call: Any,
    signal: Optional[AbortSignal] = None,
    on_update: Optional[OnUpdate] = None,
) -> Dict[str, Any]:
    """Run a model's tool call, and return the tool message that answers it.

    tool_call: as Mistral's and OpenAI's chat completions give it: `id` and `function` with `name`
        and `arguments` (JSON text or an object), as a dict or an object with such attributes; or a
        `ToolCall` of an answer
    signal, on_update: as in `KnowledgeTool.execute`

    Whatever the model got wrong, a tool that is not there included, is said in the message.
    Raises InvalidArgumentError for what is no tool call.
    """
    call_id, name, arguments = _parts(tool_call)
    result = _run({tool.name: tool for tool in tools}, name, arguments, signal, on_update)
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": result.content}


def as_functions(
    tools: Iterable[KnowledgeTool],
    signal: Optional[AbortSignal] = None,
    on_update: Optional[OnUpdate] = None,
) -> Dict[str, Callable[..., str]]:
    """The tools as `functions=` of `client.rag.agent`; declare them with `tools=` beside it.

    >>> from mistral_knowledge import FakeTransport, KnowledgeClient
    >>> from mistral_knowledge.tools import as_functions, knowledge_tools
    >>> client = KnowledgeClient(transport=FakeTransport())
    >>> tools = knowledge_tools(client, only=["mistral_library_create"])
    >>> answer = client.rag.agent.query(
    ...     'Use mistral_library_create {"name": "Notes"}',
    ...     tools=[tool.as_function() for tool in tools],
    ...     functions=as_functions(tools),
    ... )
    >>> [library.name for library in client.libraries.list()]
    ['Notes']
    """
    return {tool.name: functools.partial(_content, tool, signal, on_update) for tool in tools}


def _content(
    tool: KnowledgeTool,
    signal: Optional[AbortSignal],
    on_update: Optional[OnUpdate],
    /,
    **arguments: Any,
) -> str:
    return tool.execute(arguments, signal, on_update).content


def _run(
    tools: Mapping[str, KnowledgeTool],
    name: str,
    arguments: Any,
    signal: Optional[AbortSignal],
    on_update: Optional[OnUpdate],
) -> ToolResult:
    tool = tools.get(name)
    if tool is None:
        return unknown(name, tools)
    try:
        params = read_json(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError as error:
        return error_result(f"the arguments are no JSON: {error}", {"tool": name})
    return tool.execute({} if arguments is None else params, signal, on_update)


def _parts(tool_call: Any) -> Tuple[Any, str, Any]:
    """(id, name, arguments) of a tool call in any of its forms."""
    function = _get(tool_call, "function")
    function = tool_call if function is None else function
    name = _get(function, "name")
    if not isinstance(name, str):
        kind = type(tool_call).__name__
        raise InvalidArgumentError(f"a {kind} is no tool call: it has no function with a name")
    call_id = _get(tool_call, "id")
    return call_id or _get(tool_call, "tool_call_id"), name, _get(function, "arguments")


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
