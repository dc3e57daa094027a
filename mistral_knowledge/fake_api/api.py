"""The in-memory knowledge API itself: one request in, one reply out."""

from __future__ import annotations

import hmac
import logging
import random
import time
from typing import Any, Callable, Mapping, Optional, Sequence

from . import (
    routes_chat,
    routes_conversations,
    routes_conversing,
    routes_document,
    routes_documents,
    routes_files,
    routes_libraries,
    routes_shares,
    routes_signed,
)
from .agents import add_agent
from .blobs import Blobs
from .exchange import ApiReply, ApiRequest, json_reply
from .links import Links
from .parts import Options, Parts, new_id
from .problems import ApiProblem, detail
from .retrieval import Retrieval
from .routing import Router, joined
from .store import Store
from .web import Web

_log = logging.getLogger(__name__)

_ROUTER = Router(
    joined(
        routes_files.ROUTES,
        routes_libraries.ROUTES,
        routes_documents.ROUTES,
        routes_document.ROUTES,
        routes_shares.ROUTES,
        routes_chat.ROUTES,
        routes_conversations.ROUTES,
        routes_conversing.ROUTES,
        routes_signed.ROUTES,
    )
)


class KnowledgeApi:
    """Mistral's files, libraries, documents, chats and conversations, in memory or in a file.

    >>> api = KnowledgeApi()
    >>> api.handle(ApiRequest("GET", "/v1/libraries")).status
    200

    path: where the SQLite database is; a file survives a restart (default: in memory)
    base_url: what signed URLs start with
    polls_until_done: how many looks at a document (get or status) show `in_progress` before one
        shows the end; with 0 the upload itself does
    api_key: if given, requests without it get a 401
    accept_stream_options: False answers `stream_options` with 422, as servers did in 2025
    announced_204: True deletes libraries and shares with 204, as announced, in place of 200
    max_upload_bytes: files above it get a 413 (default: no limit)
    seed: makes the cutting and padding of streams the same in each run
    clock: Unix time in seconds, for timestamps and the end of signed URLs
    web_pages: the pages that web search finds, each with title, url and text; not kept in the file

    Answers quote the passages of the uploaded text that match the question best. Safe to use from
    many threads.
    """

    def __init__(
        self,
        path: str = ":memory:",
        *,
        base_url: str = "https://api.mistral.ai",
        polls_until_done: int = 1,
        api_key: Optional[str] = None,
        accept_stream_options: bool = True,
        announced_204: bool = False,
        max_upload_bytes: Optional[int] = None,
        seed: Optional[int] = None,
        clock: Callable[[], float] = time.time,
        web_pages: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        store = Store(path)
        self._parts = Parts(
            store=store,
            blobs=Blobs(store),
            retrieval=Retrieval(store),
            links=Links(store.secret(), base_url, clock),
            options=Options(
                polls_until_done, api_key, accept_stream_options, announced_204, max_upload_bytes
            ),
            clock=clock,
            randomness=random.Random(seed),
            web=Web(web_pages),
        )

    @property
    def base_url(self) -> str:
        """What signed URLs start with; whoever serves the API sets it."""
        return self._parts.links.base_url

    @base_url.setter
    def base_url(self, url: str) -> None:
        self._parts.links.base_url = url

    def add_agent(
        self,
        *,
        model: str = "mistral-medium-latest",
        instructions: Optional[str] = None,
        tools: Sequence[Mapping[str, Any]] = (),
        completion_args: Optional[Mapping[str, Any]] = None,
    ) -> str:
        """Make an agent that conversations can be started with; returns its id."""
        return add_agent(self._parts, model, instructions, tools, completion_args)

    def handle(self, request: ApiRequest) -> ApiReply:
        """Answer one request. What its body raises while it is read comes out as it is."""
        try:
            self._check_key(request)
            handler, call = _ROUTER.find(request)
            reply = handler(self._parts, call)
        except ApiProblem as problem:
            reply = json_reply(problem.payload, problem.status)
        reply.headers.setdefault("mistral-correlation-id", new_id())
        _log.debug("%s %s: %s", request.method, request.path, reply.status)
        return reply

    def close(self) -> None:
        """Close the database; safe to call again."""
        self._parts.store.close()
        self._parts.web.close()

    def __enter__(self) -> KnowledgeApi:
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.close()

    def _check_key(self, request: ApiRequest) -> None:
        key = self._parts.options.api_key
        if key is None or request.path.startswith(routes_signed.PREFIX):
            return
        given = request.headers.get("authorization", "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, f"Bearer {key}".encode()):
            raise detail(401, "Unauthorized")
