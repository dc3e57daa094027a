"""Conversations that the server keeps (`/v1/conversations`).

https://docs.mistral.ai/api/#tag/beta.conversations
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Union

from .._caller import Call, Caller, Options, encoded
from .._checks import mappings, number
from ..errors import InvalidArgumentError
from ..models._convert import parse
from ..models.answers import Answer
from ..models.conversations import Conversation, Entry
from ._arguments import CallOptions, id_of
from ._listing import Listing, Page, items_of

if TYPE_CHECKING:
    from ._arguments import Unpack

ConversationRef = Union[str, Conversation, Answer]


class Conversations:
    """`client.rag.agent.conversations`. Methods also take `timeout=`, `retries=` and `signal=`.

    A conversation is named by its id, a Conversation, or an Answer that came from it.
    All raise TransportError, APIError and its children, AbortedError, ConfigurationError.
    """

    def __init__(self, caller: Caller, ask: Callable[..., Answer]) -> None:
        self._caller = caller
        self._ask = ask

    def list(
        self,
        *,
        metadata: Optional[Mapping[str, Any]] = None,
        page_size: int = 100,
        **options: Unpack[CallOptions],
    ) -> Listing[Conversation]:
        """All conversations (`GET /v1/conversations`); lazily, page by page.

        metadata: only those that were started with it; page_size: items a request
        """
        asked = mappings(metadata=metadata)
        wanted = encoded(asked["metadata"]).decode("ascii") if asked else None
        size, opts = number("page_size", page_size, 1), Options(**options)

        def fetch(page: int) -> Page[Conversation]:
            query = [("page", page), ("page_size", size), ("metadata", wanted)]
            payload = self._caller.json(Call("GET", "/v1/conversations", query=query), opts)
            items = items_of(payload, Conversation)
            return Page(items, page + 1 if len(items) >= size else None)

        return Listing(fetch, 0)

    def get(self, conversation: ConversationRef, **options: Unpack[CallOptions]) -> Conversation:
        """How a conversation was started (`GET /v1/conversations/{id}`)."""
        call = Call("GET", _path(conversation))
        return parse(Conversation, self._caller.json(call, Options(**options)))

    def history(
        self, conversation: ConversationRef, **options: Unpack[CallOptions]
    ) -> builtins.list[Entry]:
        """All its entries in order, tool calls too (`GET /v1/conversations/{id}/history`)."""
        call = Call("GET", f"{_path(conversation)}/history")
        return _entries(self._caller.json(call, Options(**options)), "entries")

    def messages(
        self, conversation: ConversationRef, **options: Unpack[CallOptions]
    ) -> builtins.list[Entry]:
        """Its messages in order (`GET /v1/conversations/{id}/messages`)."""
        call = Call("GET", f"{_path(conversation)}/messages")
        return _entries(self._caller.json(call, Options(**options)), "messages")

    def restart(
        self,
        conversation: ConversationRef,
        from_entry: Union[str, Entry],
        question: Optional[str] = None,
        **asked: Any,
    ) -> Answer:
        """Ask anew from one of its entries on (`POST /v1/conversations/{id}/restart`).

        The answer belongs to a new conversation: `answer.conversation_id`. `asked` is as in
        `Agent.query`; `Agent.stream(..., conversation=, from_entry=)` streams it.
        """
        return self._ask(question, conversation=conversation, from_entry=from_entry, **asked)

    def delete(self, conversation: ConversationRef, **options: Unpack[CallOptions]) -> None:
        """Delete it (`DELETE /v1/conversations/{id}`)."""
        self._caller.json(Call("DELETE", _path(conversation)), Options(**options))


def conversation_id_of(conversation: Any) -> str:
    """The id of a conversation, from an id, a Conversation or an Answer."""
    if isinstance(conversation, Answer):
        if conversation.conversation_id is None:
            raise InvalidArgumentError("this answer is not from a conversation")
        conversation = conversation.conversation_id
    return id_of(conversation, Conversation)


def _path(conversation: ConversationRef) -> str:
    return f"/v1/conversations/{conversation_id_of(conversation)}"


def _entries(payload: Any, name: str) -> builtins.list[Entry]:
    return items_of(payload.get(name) if isinstance(payload, Mapping) else payload, Entry)
