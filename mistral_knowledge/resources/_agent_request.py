"""What an agent question becomes on the wire: which endpoint, and its body."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import attr

from .._checks import items, switches, texts
from ..answers.rounds import Functions
from ..errors import InvalidArgumentError
from ..models.conversations import Entry
from ._arguments import Libraries, checked_question, given, id_of, library_tool
from ._function_schema import declaration
from .conversations import ConversationRef, conversation_id_of

MODES = ("rag", "research")

# What research mode turns on unless told otherwise; docs/agent.md shows the same table.
RESEARCH_WEB_SEARCH = "premium"
RESEARCH_CODE_INTERPRETER = True
RESEARCH_REASONING = "high"

# Options of the API that stand beside the completion arguments, not in them.
_BESIDE = ("name", "description", "metadata", "guardrails", "agent_version", "handoff_execution")
_BESIDE_OF_APPEND = ("handoff_execution",)
_BESIDE_OF_RESTART = ("handoff_execution", "metadata", "guardrails", "agent_version")
_OURS = ("stream", "completion_args", "tool_confirmations")


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Asked:
    """An agent question as the caller gave it; see `Agent.stream` for what each field is.

    The repr leaves out what may be the caller's prompt or data.
    """

    question: Optional[str] = attr.ib(repr=False)
    inputs: Optional[Sequence[Mapping[str, Any]]] = attr.ib(repr=False)
    libraries: Optional[Libraries]
    web_search: Union[bool, str, None]
    code_interpreter: Optional[bool]
    tools: Sequence[Mapping[str, Any]] = attr.ib(repr=False)
    functions: Functions
    agent: Optional[str]
    model: Optional[str]
    instructions: Optional[str] = attr.ib(repr=False)
    mode: str
    store: Optional[bool]
    conversation: Optional[ConversationRef] = attr.ib(repr=False)
    from_entry: Union[str, Entry, None] = attr.ib(repr=False)
    options: Mapping[str, Any] = attr.ib(repr=False)


def ask_request(asked: Asked, default_model: str) -> Tuple[str, Dict[str, Any]]:
    """(path, body) of the request that asks; raises InvalidArgumentError for what cannot work."""
    _check(asked)
    if asked.conversation is not None:
        return _continuing(asked)
    tools = _tools(asked)
    if not tools and asked.agent is None:
        raise InvalidArgumentError(
            "nothing to answer from: give libraries=, web_search=True, code_interpreter=True, "
            "tools=, functions=, or an agent= that has tools of its own"
        )
    beside, completion = _split(asked.options, _BESIDE)
    body = given(
        inputs=_inputs(asked),
        agent_id=asked.agent,
        model=None if asked.agent is not None else asked.model or default_model,
        instructions=asked.instructions,
        tools=tools or None,
        store=asked.store,
        completion_args=_completion_args(asked, completion) or None,
        **beside,
    )
    return "/v1/conversations", body


def follow_request(asked: Asked, conversation_id: str, body: Dict[str, Any]) -> Dict[str, Any]:
    """The body that appends function results and confirmations to the same answer."""
    beside, completion = _split(asked.options, _BESIDE)
    kept = {name: beside[name] for name in _BESIDE_OF_APPEND if name in beside}
    arguments = _completion_args(asked, completion) or None
    return given(**body, store=asked.store, completion_args=arguments, **kept)


def _continuing(asked: Asked) -> Tuple[str, Dict[str, Any]]:
    for name in ("libraries", "web_search", "code_interpreter", "agent", "model", "instructions"):
        if getattr(asked, name) is not None:
            raise InvalidArgumentError(
                f"{name}= is set when a conversation is started, and kept: leave it out, "
                "or leave out conversation="
            )
    if asked.tools:
        raise InvalidArgumentError("tools= are set when a conversation is started, and kept")
    path = f"/v1/conversations/{conversation_id_of(asked.conversation)}"
    restart = asked.from_entry is not None
    allowed = _BESIDE_OF_RESTART if restart else _BESIDE_OF_APPEND
    beside, completion = _split(asked.options, allowed)
    body = given(
        inputs=_inputs(asked),
        from_entry_id=id_of(asked.from_entry, Entry) if restart else None,
        store=asked.store,
        completion_args=_completion_args(asked, completion) or None,
        **beside,
    )
    return (f"{path}/restart" if restart else path), body


def _check(asked: Asked) -> None:
    texts(model=asked.model, agent=asked.agent, instructions=asked.instructions)
    switches(store=asked.store, code_interpreter=asked.code_interpreter)
    if asked.mode not in MODES:
        raise InvalidArgumentError(f"mode={asked.mode!r}: give 'rag' or 'research'")
    if asked.agent is not None and asked.model is not None:
        raise InvalidArgumentError("give an agent= or a model=, not both: an agent has its model")
    if asked.web_search not in (None, True, False, "premium"):
        raise InvalidArgumentError(f"web_search={asked.web_search!r}: give True or 'premium'")
    if asked.from_entry is not None and asked.conversation is None:
        raise InvalidArgumentError("from_entry= restarts a conversation: give conversation= too")
    if asked.functions and asked.store is False:
        raise InvalidArgumentError("functions= need a conversation that is kept: not store=False")
    for name in _OURS:
        if name in asked.options:
            raise InvalidArgumentError(f"{name}= is made from the other arguments; leave it out")


def _inputs(asked: Asked) -> Union[str, List[Mapping[str, Any]]]:
    if (asked.question is None) == (asked.inputs is None):
        raise InvalidArgumentError("ask a question, or give inputs=: one of the two")
    if asked.inputs is not None:
        entries = items("inputs", asked.inputs, Mapping, "entries, which are dicts")
        if not entries:
            raise InvalidArgumentError("inputs= is empty: give at least one entry")
        return entries
    return checked_question(asked.question)


def _tools(asked: Asked) -> List[Mapping[str, Any]]:
    research = asked.mode == "research"
    web_search = asked.web_search
    if web_search is None and research:
        web_search = RESEARCH_WEB_SEARCH
    code = asked.code_interpreter
    if code is None and research:
        code = RESEARCH_CODE_INTERPRETER
    tools: List[Mapping[str, Any]] = []
    tools += [library_tool(asked.libraries)] if asked.libraries is not None else []
    tools += [{"type": _web_search_type(web_search)}] if web_search else []
    tools += [{"type": "code_interpreter"}] if code else []
    return [*tools, *asked.tools, *_declarations(asked)]


def _web_search_type(web_search: Union[bool, str]) -> str:
    return "web_search_premium" if web_search == "premium" else "web_search"


def _declarations(asked: Asked) -> List[Dict[str, Any]]:
    """Declarations of the functions that `tools` does not declare itself."""
    declared = {_function_name(tool) for tool in asked.tools}
    return [
        declaration(name, function)
        for name, function in asked.functions.items()
        if name not in declared
    ]


def _function_name(tool: Mapping[str, Any]) -> Any:
    function = tool.get("function")
    return function.get("name") if isinstance(function, Mapping) else None


def _completion_args(asked: Asked, completion: Mapping[str, Any]) -> Dict[str, Any]:
    preset = {"reasoning_effort": RESEARCH_REASONING} if asked.mode == "research" else {}
    return given(**{**preset, **completion})


def _split(
    options: Mapping[str, Any], beside: Sequence[str]
) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    outer = {name: value for name, value in options.items() if name in beside}
    inner = {name: value for name, value in options.items() if name not in beside}
    return outer, inner
