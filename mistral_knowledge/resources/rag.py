"""RAG: questions to libraries (`POST /v1/chat/completions` with the `document_library` tool).

https://docs.mistral.ai/api/#tag/chat
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .._caller import NOT_GIVEN, Call, Caller, NotGiven, Options
from .._checks import callables, items, switches, texts
from .._retry import Retry
from ..abort import AbortSignal
from ..answers.chat import ChatReader
from ..answers.stream import AnswerStream, OnUpdate
from ..errors import InvalidArgumentError, InvalidRequestError, request_id_of
from ..models.answers import Answer
from ..transports import Reply, Timeout
from ._arguments import Libraries, RagDefaults, checked_question, given, library_tool
from .agent import Agent

_NO_STREAM_OPTIONS = "the server refuses stream_options"
_OURS = ("stream", "stream_options")


class Rag:
    """`client.rag`: ask a question of one library or several.

    `agent`: the same two verbs over the Conversations API, with tools.

    Both verbs raise TransportError, APIError and its children, AbortedError, ConfigurationError,
    InvalidArgumentError; and AnswerError for an answer that did not come whole.
    """

    def __init__(self, caller: Caller, defaults: RagDefaults) -> None:
        self._caller = caller
        self._defaults = defaults
        self.agent = Agent(caller, defaults)

    def query(
        self,
        question: Optional[str] = None,
        *,
        libraries: Libraries,
        messages: Optional[Sequence[Mapping[str, Any]]] = None,
        model: Optional[str] = None,
        streaming: Optional[bool] = None,
        web_search: Union[bool, str] = False,
        on_update: Optional[OnUpdate] = None,
        tools: Sequence[Mapping[str, Any]] = (),
        timeout: Union[Timeout, float, NotGiven, None] = NOT_GIVEN,
        retries: Union[Retry, int, NotGiven] = NOT_GIVEN,
        signal: Optional[AbortSignal] = None,
        **completion: Any,
    ) -> Answer:
        """Ask, and return the whole answer (`POST /v1/chat/completions`; tokens are billed).

        on_update: called with the growing `PartialAnswer` while the answer comes, never after

        All else is as in `stream`.
        """
        callables(on_update=on_update)
        stream = self.stream(
            question,
            libraries=libraries,
            messages=messages,
            model=model,
            streaming=streaming,
            web_search=web_search,
            tools=tools,
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
        libraries: Libraries,
        messages: Optional[Sequence[Mapping[str, Any]]] = None,
        model: Optional[str] = None,
        streaming: Optional[bool] = None,
        web_search: Union[bool, str] = False,
        tools: Sequence[Mapping[str, Any]] = (),
        timeout: Union[Timeout, float, NotGiven, None] = NOT_GIVEN,
        retries: Union[Retry, int, NotGiven] = NOT_GIVEN,
        signal: Optional[AbortSignal] = None,
        **completion: Any,
    ) -> AnswerStream:
        """Ask, and return the answer as it comes (`POST /v1/chat/completions`; tokens are billed).

        The request is sent here: an error of the server is raised here, not in the loop.

        question: what to ask; or give `messages`, a whole conversation of role and content
        libraries: one library (object or id) or several
        model: else the client's, else the settings', else `mistral-medium-latest`
        streaming: False makes one request and yields the events of the whole answer
        web_search: True or "premium" searches the web as well; it does not work on chat
            completions, so the question takes the road of `agent.stream`
        tools: further tools, as the API takes them
        signal: ends it, from any thread or a signal handler
        completion: options of the API (temperature, max_tokens, random_seed, ...); what is None is
            left out; `n` above 1 is refused, because an answer is one
        """
        texts(model=model)
        switches(streaming=streaming)
        if web_search:
            return self.agent.stream(
                question,
                inputs=messages,
                libraries=libraries,
                web_search=web_search,
                model=model,
                streaming=streaming,
                tools=tools,
                timeout=timeout,
                retries=retries,
                signal=signal,
                **_checked(completion),
            )
        streamed = self._defaults.streaming() if streaming is None else streaming
        body = given(
            model=model or self._defaults.model(),
            messages=_messages(question, messages),
            tools=[library_tool(libraries), *items("tools", tools, Mapping, "dicts")],
            **_checked(completion),
        )
        return self._ask(body, streamed, Options(timeout, retries, signal))

    def _ask(self, body: Dict[str, Any], streamed: bool, options: Options) -> AnswerStream:
        if not streamed:
            return self._send(body, "application/json", options)
        body["stream"] = True
        if _NO_STREAM_OPTIONS in self._caller.learned:
            return self._send(body, "text/event-stream", options)
        asking_for_usage = {**body, "stream_options": {"include_usage": True}}
        try:
            return self._send(asking_for_usage, "text/event-stream", options)
        except InvalidRequestError as error:
            if error.status != 422 or "stream_options" not in error.message:
                raise
        self._caller.learned.add(_NO_STREAM_OPTIONS)
        return self._send(body, "text/event-stream", options)

    def _send(self, body: Dict[str, Any], accept: str, options: Options) -> AnswerStream:
        call = Call("POST", "/v1/chat/completions", json=body, accept=accept)
        return self._caller.run(call, options, self._opened)

    def _opened(self, reply: Reply, signal: AbortSignal) -> AnswerStream:
        reader = ChatReader(request_id_of(reply.headers))
        return AnswerStream(reply, reader, signal, hide=self._caller.hide)


def _messages(
    question: Optional[str], messages: Optional[Sequence[Mapping[str, Any]]]
) -> Sequence[Mapping[str, Any]]:
    if (question is None) == (messages is None):
        raise InvalidArgumentError("ask a question, or give messages=: one of the two")
    if messages is not None:
        given_messages = items("messages", messages, Mapping, "dicts with role and content")
        if not given_messages:
            raise InvalidArgumentError("messages= is empty: give at least one")
        return given_messages
    return [{"role": "user", "content": checked_question(question)}]


def _checked(completion: Dict[str, Any]) -> Dict[str, Any]:
    for name in _OURS:
        if name in completion:
            raise InvalidArgumentError(
                f"{name}= is set by streaming=: give streaming=True or False"
            )
    if (completion.get("n") or 1) != 1:
        raise InvalidArgumentError(
            "n above 1 is not supported: an answer is one; ask again instead"
        )
    return completion
