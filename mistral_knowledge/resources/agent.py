"""The agent room: answers over the Conversations API, with tools (`POST /v1/conversations`).

https://docs.mistral.ai/api/#tag/beta.conversations
"""

from __future__ import annotations

import functools
from typing import Any, Dict, Generator, Mapping, Optional, Sequence, Tuple, Type, Union

import attr

from .._caller import NOT_GIVEN, Call, Caller, NotGiven, Options, encoded
from .._checks import callables, items, switches
from .._retry import Retry
from ..abort import AbortSignal
from ..answers.conversations import ConversationReader
from ..answers.events import Event
from ..answers.rounds import MAX_ROUNDS, Confirm, Functions, Rounds
from ..answers.stream import AnswerStream, Follow, OnUpdate
from ..errors import request_id_of
from ..models.answers import Answer
from ..models.conversations import Entry
from ..transports import Reply, Timeout
from ._agent_request import Asked, ask_request, follow_request
from ._arguments import Libraries, RagDefaults
from .conversations import ConversationRef, Conversations

Round = Tuple[Reply, ConversationReader]


class Agent:
    """`client.rag.agent`: questions that a model answers with tools, in a conversation.

    `conversations`: those that the server keeps. Both verbs raise TransportError, APIError and its
    children, AbortedError, ConfigurationError, InvalidArgumentError; and AnswerError for an answer
    that did not come whole.
    """

    def __init__(self, caller: Caller, defaults: RagDefaults) -> None:
        self._caller = caller
        self._defaults = defaults
        # Not `self.query`: the circle would keep the connections of a dropped client open.
        self.conversations = Conversations(caller, functools.partial(_query, caller, defaults))

    def query(
        self,
        question: Optional[str] = None,
        *,
        on_update: Optional[OnUpdate] = None,
        inputs: Optional[Sequence[Mapping[str, Any]]] = None,
        libraries: Optional[Libraries] = None,
        web_search: Union[bool, str, None] = None,
        code_interpreter: Optional[bool] = None,
        tools: Sequence[Mapping[str, Any]] = (),
        functions: Optional[Functions] = None,
        confirm: Optional[Confirm] = None,
        reported_errors: Tuple[Type[Exception], ...] = (),
        max_rounds: int = MAX_ROUNDS,
        agent: Optional[str] = None,
        model: Optional[str] = None,
        instructions: Optional[str] = None,
        mode: str = "rag",
        store: Optional[bool] = None,
        conversation: Optional[ConversationRef] = None,
        from_entry: Union[str, Entry, None] = None,
        streaming: Optional[bool] = None,
        timeout: Union[Timeout, float, NotGiven, None] = NOT_GIVEN,
        retries: Union[Retry, int, NotGiven] = NOT_GIVEN,
        signal: Optional[AbortSignal] = None,
        **completion: Any,
    ) -> Answer:
        """Ask, and return the whole answer (`POST /v1/conversations`; tokens and tools are billed).

        on_update: called with the growing `PartialAnswer` while the answer comes, never after

        All else is as in `stream`.
        """
        callables(on_update=on_update)
        stream = self.stream(
            question,
            inputs=inputs,
            libraries=libraries,
            web_search=web_search,
            code_interpreter=code_interpreter,
            tools=tools,
            functions=functions,
            confirm=confirm,
            reported_errors=reported_errors,
            max_rounds=max_rounds,
            agent=agent,
            model=model,
            instructions=instructions,
            mode=mode,
            store=store,
            conversation=conversation,
            from_entry=from_entry,
            streaming=streaming,
            timeout=timeout,
            retries=retries,
            signal=signal,
            **completion,
        )
        return stream.get_answer(on_update)

    def show(self, question: Optional[str] = None, **asked: Any) -> Answer:
        """Ask, show the answer as it comes (see `AnswerStream.show`), and return it.

        All arguments are those of `stream`.
        """
        return self.stream(question, **asked).show()

    def stream(
        self,
        question: Optional[str] = None,
        *,
        inputs: Optional[Sequence[Mapping[str, Any]]] = None,
        libraries: Optional[Libraries] = None,
        web_search: Union[bool, str, None] = None,
        code_interpreter: Optional[bool] = None,
        tools: Sequence[Mapping[str, Any]] = (),
        functions: Optional[Functions] = None,
        confirm: Optional[Confirm] = None,
        reported_errors: Tuple[Type[Exception], ...] = (),
        max_rounds: int = MAX_ROUNDS,
        agent: Optional[str] = None,
        model: Optional[str] = None,
        instructions: Optional[str] = None,
        mode: str = "rag",
        store: Optional[bool] = None,
        conversation: Optional[ConversationRef] = None,
        from_entry: Union[str, Entry, None] = None,
        streaming: Optional[bool] = None,
        timeout: Union[Timeout, float, NotGiven, None] = NOT_GIVEN,
        retries: Union[Retry, int, NotGiven] = NOT_GIVEN,
        signal: Optional[AbortSignal] = None,
        **completion: Any,
    ) -> AnswerStream:
        """Ask, and return the answer as it comes; tokens and tools are billed.

        `POST /v1/conversations`, `.../{id}` to continue one, `.../{id}/restart` with `from_entry`.

        The request is sent here: an error of the server is raised here, not in the loop.

        question: what to ask; or give `inputs`, a list of entries as the API takes them
        libraries: one library (object or id) or several; may be left out where there are tools
        web_search: True or "premium"; code_interpreter: True
        tools: further tools, as the API takes them
        functions: Python functions by name, which the model may call: each is run here, and its
            result (text, or what JSON can carry) goes back to the model until the answer is there.
            They are declared from their signatures where `tools` does not declare them.
        reported_errors: exceptions of functions that are told to the model; all others are raised
        max_rounds: how many requests with function results an answer may take (default 8)
        confirm: called with a ToolCall that needs leave; True allows it, False denies it. Without
            it such a call raises AnswerError.
        agent: the id of an agent that is there, in place of a model
        model: else the client's, else the settings', else `mistral-medium-latest`
        instructions: what the model is told beforehand
        mode: "rag", or "research", which turns on premium web search, the code interpreter and
            high reasoning effort unless they are set here
        store: False keeps the conversation off the server; then it cannot be continued
        conversation: continue this one (id, Conversation or an earlier Answer); its tools, model
            and instructions are kept
        from_entry: restart the conversation from this entry (id or Entry)
        streaming: False makes one request and yields the events of the whole answer
        signal: ends it, from any thread or a signal handler
        completion: completion arguments (temperature, max_tokens, reasoning_effort, ...), and
            name, description, metadata, guardrails, agent_version, handoff_execution
        """
        switches(streaming=streaming)
        functions = functions or {}
        rounds = Rounds(functions, confirm, reported_errors, max_rounds)
        asked = Asked(
            question,
            inputs,
            libraries,
            web_search,
            code_interpreter,
            items("tools", tools, Mapping, "dicts"),
            functions,
            agent,
            model,
            instructions,
            mode,
            store,
            conversation,
            from_entry,
            completion,
        )
        path, body = ask_request(asked, self._defaults.model())
        streamed = self._defaults.streaming() if streaming is None else streaming
        options = Options(timeout, retries, signal)

        def opened(reply: Reply, ending: AbortSignal) -> AnswerStream:
            # What follows shares the deadline of the first request: total is for the whole answer.
            further = self._caller.within(options, ending)
            follow = self._follow(asked, rounds, streamed, further)
            return AnswerStream(reply, _reader(reply), ending, follow, self._caller.hide)

        return self._caller.run(_call(path, body, streamed), options, opened)

    def _follow(
        self, asked: Asked, rounds: Rounds, streamed: bool, options: Options
    ) -> Follow[ConversationReader]:
        def follow(
            reader: ConversationReader, closing: AbortSignal
        ) -> Generator[Event, None, Optional[Round]]:
            body = yield from rounds.replies_to(reader.calls, reader.assembly, _json)
            conversation_id = reader.assembly.conversation_id
            if not body or conversation_id is None:
                return None
            reader.assembly.next_round()
            body = follow_request(asked, conversation_id, body)
            call = _call(f"/v1/conversations/{conversation_id}", body, streamed)
            signal = AbortSignal.any(options.signal, closing)
            ending = attr.evolve(options, signal=signal)
            reply = self._caller.run(call, ending, lambda reply, _: reply)
            return reply, ConversationReader(request_id_of(reply.headers), reader.assembly)

        return follow


def _query(caller: Caller, defaults: RagDefaults, *args: Any, **asked: Any) -> Answer:
    return Agent(caller, defaults).query(*args, **asked)


def _call(path: str, body: Dict[str, Any], streamed: bool) -> Call:
    if not streamed:
        return Call("POST", path, json=body)
    return Call("POST", path, json={**body, "stream": True}, accept="text/event-stream")


def _reader(reply: Reply) -> ConversationReader:
    return ConversationReader(request_id_of(reply.headers))


def _json(value: Any) -> str:
    return encoded(value).decode("ascii")
