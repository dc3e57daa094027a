"""The relay as a WSGI application."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Optional, Sequence

from werkzeug.wrappers import Request, Response

from ..abort import AbortSignal
from ..errors import InvalidArgumentError
from ..resources._arguments import Libraries, library_ids
from . import replies, whole
from .body import Amend, EventBody
from .conversations import Conversations
from .gone import has_gone
from .guard import Guard, checked_origins, checked_token
from .limits import Places, json_of
from .page import FILES, page_reply
from .problems import Problem, problem_of
from .pump import Failed, Pump
from .questions import Question, agent_question, page_question, rag_question

if TYPE_CHECKING:
    from ..client import KnowledgeClient

# Where a server that loses its client finds what it has to close.
BODY = "mistral_knowledge.relay.body"


class RelayApp:
    """What `relay_app` returns: a WSGI application. `close()` ends the answers under way."""

    def __init__(
        self,
        client: KnowledgeClient,
        libraries: Libraries,
        token: Optional[str],
        cors: Sequence[str],
        *,
        heartbeat: float,
        max_streams: int,
        max_request_bytes: int,
    ) -> None:
        if min(heartbeat, max_streams, max_request_bytes) <= 0:
            raise InvalidArgumentError("heartbeat, max_streams, max_request_bytes: above 0, please")
        self._rag = client.rag
        self._libraries = library_ids(libraries)
        self._secrets = [token] if token else []
        self._origins = checked_origins(cors)
        self._guard = Guard(checked_token(token), self._origins)
        self._conversations = Conversations(token, self._libraries)
        self._heartbeat = heartbeat
        self._max_request_bytes = max_request_bytes
        self._places = Places(max_streams)

    def __call__(
        self, environ: Dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one request."""
        request = Request(environ)
        try:
            reply = self._reply(request)
        except Problem as problem:
            reply = replies.problem(problem)
        replies.finish(reply, request, self._guard)
        return reply(environ, start_response)

    def close(self) -> None:
        """End every answer under way; those who wait for one get an error event."""
        self._places.stop_all()

    def _reply(self, request: Request) -> Response:
        # R2R's client asks for `//v3/...` where its base URL ends in a slash.
        path = re.sub("//+", "/", request.path)
        answer = self._answers().get(path)
        methods = ("POST", "OPTIONS") if answer else ("GET", "HEAD")
        if answer is None and path not in FILES and path != "/healthz":
            raise Problem(404, "there is nothing at this address", "NotFoundError")
        if request.method not in methods:
            allowed = {"Allow": ", ".join(methods)}
            raise Problem(405, f"{request.method} does not work here", "MethodError", allowed)
        if answer is None:
            return replies.json({"status": "ok"}) if path == "/healthz" else page_reply(path)
        if request.method == "OPTIONS":
            return replies.preflight(request, self._guard)
        self._guard.check(request.environ)
        return answer(request)

    def _answers(self) -> Dict[str, Callable[[Request], Response]]:
        answers = {"/v3/retrieval/rag": self._rag_answer, "/v3/retrieval/agent": self._agent_answer}
        # Hosts of R2R serve it behind a prefix of their own.
        prefixed = {f"/api/r2r{path}": answer for path, answer in answers.items()}
        return {**answers, **prefixed, "/api/rag": self._page_answer}

    def _rag_answer(self, request: Request) -> Response:
        question = rag_question(self._json(request), self._libraries)
        return self._told(request, question, "r2r", whole.rag_results)

    def _agent_answer(self, request: Request) -> Response:
        question = agent_question(self._json(request), self._libraries, self._conversations)
        return self._told(request, question, "r2r", whole.agent_results)

    def _page_answer(self, request: Request) -> Response:
        question = page_question(self._json(request), self._libraries, self._conversations)
        return self._told(request, question, "envelope", whole.page_results)

    def _json(self, request: Request) -> Dict[str, Any]:
        return json_of(request, self._max_request_bytes)

    def _told(
        self,
        request: Request,
        question: Question,
        style: str,
        shape: whole.Shape,
    ) -> Response:
        pump = self._started(question)
        amend = self._amend(question)
        if question.streamed:
            body = EventBody(
                pump,
                style,
                self._heartbeat,
                amend_final=amend,
                secrets=self._secrets,
                has_gone=partial(has_gone, request.environ),
            )
            # An answer that is refused at once has a status; later there is only the stream.
            first = pump.channel.first(self._heartbeat)
            if isinstance(first, Failed):
                body.close()
                raise problem_of(first.error, self._secrets)
            request.environ[BODY] = body
            return replies.stream(body, question.ignored)
        try:
            told = whole.read_whole(pump, request.environ)
        except whole.AnswerFailed as failed:
            raise problem_of(failed.error, self._secrets) from None
        finally:
            pump.close()
        return replies.json(shape(told, amend), question.ignored)

    def _started(self, question: Question) -> Pump:
        signal = AbortSignal()
        pump = Pump(
            lambda: question.ask(self._rag, signal), signal, lambda: self._places.ended(pump)
        )
        self._places.start(pump)
        return pump

    def _amend(self, question: Question) -> Amend:
        def amend(data: Dict[str, Any]) -> Dict[str, Any]:
            sealed = self._conversations.sealed(data["conversation_id"])
            metadata = {**data["metadata"], "ignored": question.ignored}
            return {**data, "conversation_id": sealed, "metadata": metadata}

        return amend
