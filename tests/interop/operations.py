"""Every operation that both SDKs have, said in each of them."""

from __future__ import annotations

import datetime
import json
from typing import Any, Callable, Dict, List

import attr
from mistralai.client import Mistral

from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.fake_api import KnowledgeApi

MODEL = "mistral-medium-latest"
KEY = "only-a-test"
QUESTION = "How fast does light travel?"
CALLING = 'What does look_up say about "light"?'
AWKWARD = 'Añ "1"; \\ 😀%22.txt'
PARTNER = "11111111-1111-4111-8111-111111111111"
ORGANISATION = "22222222-2222-4222-8222-222222222222"
TEXT = b"Light travels at 299792458 m/s.\n\nSound travels at 343 m/s.\n"
WHEN = datetime.datetime(2030, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
ASKED = [{"role": "user", "content": QUESTION}]
OPTIONS = {"temperature": 0.2, "max_tokens": 400, "random_seed": 7}
WEB = {
    "title": "Light",
    "url": "https://light.test",
    "text": "How fast does light travel? Light is fast.",
}
FUNCTION = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look a word up.",
        "parameters": {
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
        },
    },
}


def look_up(word: str) -> str:
    return f"{word} is fast"


@attr.s(auto_attribs=True)
class World:
    """What is there before an operation: the same for both, ids apart."""

    library: str
    document: str
    file: str
    conversation: str
    entry: str
    agent: str

    @property
    def tools(self) -> List[Dict[str, Any]]:
        return [{"type": "document_library", "library_ids": [self.library]}]


def new_api() -> KnowledgeApi:
    return KnowledgeApi(polls_until_done=0, seed=7, web_pages=[WEB], clock=lambda: WHEN.timestamp())


def world_in(api: KnowledgeApi) -> World:
    """One of each, made without a trace in any record."""
    client = KnowledgeClient(transport=FakeTransport(api))
    client.libraries.create("Chemistry")
    library = client.libraries.create("Physics", description="Papers")
    document = client.documents.upload(library, ("light.txt", TEXT))
    client.libraries.share(library, PARTNER)
    file = client.files.upload(("light.txt", TEXT), purpose="ocr")
    agent = client.rag.agent
    first = agent.query(QUESTION, libraries=library, name="Light", metadata={"team": "a"})
    agent.query("And sound?", conversation=first)
    entry = agent.conversations.history(first)[2]
    return World(
        library=library.id,
        document=document.id,
        file=file.id,
        conversation=str(first.conversation_id),
        entry=str(entry.id),
        agent=api.add_agent(model=MODEL, tools=[{"type": "web_search"}]),
    )


def _tools_asking(w: World) -> List[Dict[str, Any]]:
    configuration = {"requires_confirmation": ["document_library"]}
    return [{**w.tools[0], "tool_configuration": configuration}]


def _read(stream: Any) -> List[Any]:
    with stream as events:
        return list(events)


def _content(text: bytes = TEXT, name: str = "light.txt", kind: str = "") -> Dict[str, Any]:
    return {"file_name": name, "content": text, **({"content_type": kind} if kind else {})}


def _asked(m: Mistral, verb: str, **asked: Any) -> Any:
    reply = getattr(m.beta.conversations, verb)(**asked)
    return _read(reply) if verb.endswith("_stream") else reply


def _all_libraries(m: Mistral) -> List[Any]:
    page = m.beta.libraries.list(page_size=1)
    found = list(page.data)
    while page.next_page_token:
        page = m.beta.libraries.list(page_size=1, page_token=page.next_page_token)
        found += page.data
    return found


def _their_function_round(m: Mistral, w: World) -> Any:
    first = m.beta.conversations.start(inputs=CALLING, model=MODEL, tools=[FUNCTION])
    call = first.outputs[0]
    result = look_up(**json.loads(call.arguments))
    entry = {"type": "function.result", "tool_call_id": call.tool_call_id, "result": result}
    return m.beta.conversations.append(conversation_id=first.conversation_id, inputs=[entry])


def _their_confirmation(m: Mistral, w: World) -> Any:
    first = m.beta.conversations.start(inputs=QUESTION, model=MODEL, tools=_tools_asking(w))
    allowed = {"tool_call_id": first.outputs[0].tool_call_id, "confirmation": "allow"}
    return m.beta.conversations.append(
        conversation_id=first.conversation_id, tool_confirmations=[allowed]
    )


@attr.s(auto_attribs=True, frozen=True)
class Operation:
    """One thing to do: with the official SDK, and with ours."""

    name: str
    theirs: Callable[[Mistral, World], Any]
    ours: Callable[[KnowledgeClient, World], Any]


FILES = [
    Operation(
        "files.upload",
        lambda m, w: m.files.upload(file=_content(), purpose="ocr"),
        lambda c, w: c.files.upload(("light.txt", TEXT), purpose="ocr"),
    ),
    Operation(
        "files.upload for the workspace",
        lambda m, w: m.files.upload(file=_content(kind="text/x-own"), expiry=48),
        lambda c, w: c.files.upload(
            ("light.txt", TEXT, "text/x-own"), visibility="workspace", expiry=48
        ),
    ),
    *(
        Operation(
            f"files.upload of {name}",
            lambda m, w, name=name: m.files.upload(file=_content(name=name), visibility="user"),
            lambda c, w, name=name: c.files.upload((name, TEXT)),
        )
        for name in ("a.pdf", "a.txt", "a.docx", "a.jsonl", "a.md", "a.unknown", "a", AWKWARD)
    ),
    Operation("files.list", lambda m, w: m.files.list(), lambda c, w: list(c.files.list())),
    Operation(
        "files.list with filters",
        lambda m, w: m.files.list(
            page_size=5,
            search="light",
            purpose="ocr",
            source=["upload", "repository"],
            sample_type=["ocr_input", "instruct"],
            mimetypes=["text/plain", "text/x-own"],
        ),
        lambda c, w: list(
            c.files.list(
                page_size=5,
                search="light",
                purpose="ocr",
                source=["upload", "repository"],
                sample_type=["ocr_input", "instruct"],
                mimetypes=["text/plain", "text/x-own"],
            )
        ),
    ),
    Operation(
        "files.retrieve",
        lambda m, w: m.files.retrieve(file_id=w.file),
        lambda c, w: c.files.get(w.file),
    ),
    Operation(
        "files.download",
        lambda m, w: m.files.download(file_id=w.file).read(),
        lambda c, w: c.files.download(w.file),
    ),
    Operation(
        "files.get_signed_url",
        lambda m, w: m.files.get_signed_url(file_id=w.file),
        lambda c, w: c.files.signed_url(w.file),
    ),
    Operation(
        "files.get_signed_url for some hours",
        lambda m, w: m.files.get_signed_url(file_id=w.file, expiry=2),
        lambda c, w: c.files.signed_url(w.file, expiry=2),
    ),
    Operation(
        "files.delete",
        lambda m, w: m.files.delete(file_id=w.file),
        lambda c, w: c.files.delete(w.file),
    ),
]

LIBRARIES = [
    Operation(
        "libraries.create",
        lambda m, w: m.beta.libraries.create(name="N"),
        lambda c, w: c.libraries.create("N"),
    ),
    Operation(
        "libraries.create with all fields",
        lambda m, w: m.beta.libraries.create(name="Ñ", description="D", owner_type="Workspace"),
        lambda c, w: c.libraries.create("Ñ", description="D", owner_type="Workspace"),
    ),
    Operation(
        "libraries.list",
        lambda m, w: m.beta.libraries.list(),
        lambda c, w: list(c.libraries.list()),
    ),
    Operation(
        "libraries.list page by page",
        lambda m, w: _all_libraries(m),
        lambda c, w: list(c.libraries.list(page_size=1)),
    ),
    Operation(
        "libraries.list with a search",
        lambda m, w: m.beta.libraries.list(search="phys & ics"),
        lambda c, w: list(c.libraries.list(search="phys & ics")),
    ),
    Operation(
        "libraries.get",
        lambda m, w: m.beta.libraries.get(library_id=w.library),
        lambda c, w: c.libraries.get(w.library),
    ),
    Operation(
        "libraries.update",
        lambda m, w: m.beta.libraries.update(library_id=w.library, name="O", description="E"),
        lambda c, w: c.libraries.update(w.library, name="O", description="E"),
    ),
    Operation(
        "libraries.update of one field",
        lambda m, w: m.beta.libraries.update(library_id=w.library, description="E"),
        lambda c, w: c.libraries.update(w.library, description="E"),
    ),
    Operation(
        "libraries.delete",
        lambda m, w: m.beta.libraries.delete(library_id=w.library),
        lambda c, w: c.libraries.delete(w.library),
    ),
]

SHARES = [
    Operation(
        "accesses.list",
        lambda m, w: m.beta.libraries.accesses.list(library_id=w.library),
        lambda c, w: c.libraries.shares(w.library),
    ),
    Operation(
        "accesses.update_or_create",
        lambda m, w: m.beta.libraries.accesses.update_or_create(
            library_id=w.library,
            level="Editor",
            share_with_uuid=PARTNER,
            share_with_type="Workspace",
            org_id=ORGANISATION,
        ),
        lambda c, w: c.libraries.share(
            w.library,
            PARTNER,
            level="Editor",
            share_with_type="Workspace",
            org_id=ORGANISATION,
        ),
    ),
    Operation(
        "accesses.delete",
        lambda m, w: m.beta.libraries.accesses.delete(
            library_id=w.library, share_with_uuid=PARTNER, share_with_type="User"
        ),
        lambda c, w: c.libraries.unshare(w.library, PARTNER),
    ),
]

DOCUMENTS = [
    Operation(
        "documents.upload",
        lambda m, w: m.beta.libraries.documents.upload(
            library_id=w.library, file=_content(b"New.", "new.txt")
        ),
        lambda c, w: c.documents.upload(w.library, ("new.txt", b"New.")),
    ),
    Operation(
        "documents.upload of what is there",
        lambda m, w: m.beta.libraries.documents.upload(library_id=w.library, file=_content()),
        lambda c, w: c.documents.upload(w.library, ("light.txt", TEXT)),
    ),
    Operation(
        "documents.list",
        lambda m, w: m.beta.libraries.documents.list(library_id=w.library),
        lambda c, w: list(c.documents.list(w.library)),
    ),
    Operation(
        "documents.list with filters",
        lambda m, w: m.beta.libraries.documents.list(
            library_id=w.library,
            search="light",
            page_size=7,
            sort_by="name",
            sort_order="asc",
            filters_attributes='{"team": "a"}',
        ),
        lambda c, w: list(
            c.documents.list(
                w.library,
                search="light",
                page_size=7,
                sort_by="name",
                sort_order="asc",
                filters_attributes='{"team": "a"}',
            )
        ),
    ),
    *(
        Operation(
            f"documents.{theirs}",
            lambda m, w, theirs=theirs: getattr(m.beta.libraries.documents, theirs)(
                library_id=w.library, document_id=w.document
            ),
            lambda c, w, ours=ours, more=more: getattr(c.documents, ours)(
                w.library, w.document, **more
            ),
        )
        for theirs, ours, more in (
            ("get", "get", {}),
            ("status", "status", {}),
            ("text_content", "text", {}),
            ("get_signed_url", "signed_url", {}),
            ("extracted_text_signed_url", "signed_url", {"extracted_text": True}),
            ("reprocess", "reprocess", {}),
            ("delete", "delete", {}),
        )
    ),
    Operation(
        "documents.text_content of some pages",
        lambda m, w: m.beta.libraries.documents.text_content(
            library_id=w.library, document_id=w.document, page_start=0, page_end=1
        ),
        lambda c, w: c.documents.text(w.library, w.document, page_start=0, page_end=1),
    ),
    Operation(
        "documents.update",
        lambda m, w: m.beta.libraries.documents.update(
            library_id=w.library,
            document_id=w.document,
            name="dark.md",
            attributes={"team": "a", "year": 2024, "ok": True, "tags": ["x"], "day": WHEN},
            expires_at=WHEN,
        ),
        lambda c, w: c.documents.update(
            w.library,
            w.document,
            name="dark.md",
            attributes={"team": "a", "year": 2024, "ok": True, "tags": ["x"], "day": WHEN},
            expires_at=WHEN,
        ),
    ),
]

CHAT = [
    Operation(
        "chat.complete",
        lambda m, w: m.chat.complete(model=MODEL, messages=ASKED, tools=w.tools, **OPTIONS),
        lambda c, w: c.rag.query(QUESTION, libraries=w.library, streaming=False, **OPTIONS),
    ),
    Operation(
        "chat.stream",
        lambda m, w: _read(m.chat.stream(model=MODEL, messages=ASKED, tools=w.tools)),
        lambda c, w: c.rag.query(QUESTION, libraries=w.library),
    ),
    Operation(
        "chat.complete with messages and a function",
        lambda m, w: m.chat.complete(
            model=MODEL,
            messages=[{"role": "system", "content": "Be brief."}, *ASKED],
            tools=[*w.tools, FUNCTION],
            tool_choice="auto",
            stop=["END"],
            safe_prompt=True,
        ),
        lambda c, w: c.rag.query(
            messages=[{"role": "system", "content": "Be brief."}, *ASKED],
            libraries=w.library,
            tools=[FUNCTION],
            tool_choice="auto",
            stop=["END"],
            safe_prompt=True,
            streaming=False,
        ),
    ),
]

CONVERSATIONS = [
    *(
        Operation(
            f"conversations.start{ending}",
            lambda m, w, ending=ending: _asked(
                m,
                f"start{ending}",
                inputs=QUESTION,
                model=MODEL,
                tools=[*w.tools, {"type": "web_search"}, {"type": "code_interpreter"}],
                instructions="Be brief.",
                name="Light",
                description="About light",
                metadata={"team": "a"},
                store=True,
                completion_args=OPTIONS,
            ),
            lambda c, w, ending=ending: c.rag.agent.query(
                QUESTION,
                libraries=w.library,
                web_search=True,
                code_interpreter=True,
                instructions="Be brief.",
                name="Light",
                description="About light",
                metadata={"team": "a"},
                store=True,
                streaming=bool(ending),
                **OPTIONS,
            ),
        )
        for ending in ("", "_stream")
    ),
    Operation(
        "conversations.start with an agent",
        lambda m, w: m.beta.conversations.start(inputs=QUESTION, agent_id=w.agent),
        lambda c, w: c.rag.agent.query(QUESTION, agent=w.agent, streaming=False),
    ),
    Operation(
        "conversations.start with entries",
        lambda m, w: m.beta.conversations.start(
            inputs=[{"role": "user", "content": QUESTION}], model=MODEL, tools=w.tools
        ),
        lambda c, w: c.rag.agent.query(
            inputs=[{"role": "user", "content": QUESTION}], libraries=w.library, streaming=False
        ),
    ),
    Operation(
        "conversations.start and append of a function's result",
        _their_function_round,
        lambda c, w: c.rag.agent.query(
            CALLING, tools=[FUNCTION], functions={"look_up": look_up}, streaming=False
        ),
    ),
    Operation(
        "conversations.start and append of a confirmation",
        _their_confirmation,
        lambda c, w: c.rag.agent.query(
            QUESTION, tools=_tools_asking(w), confirm=lambda call: True, streaming=False
        ),
    ),
    *(
        Operation(
            f"conversations.append{ending}",
            lambda m, w, ending=ending: _asked(
                m,
                f"append{ending}",
                conversation_id=w.conversation,
                inputs="And sound?",
                completion_args={"temperature": 0.1},
            ),
            lambda c, w, ending=ending: c.rag.agent.query(
                "And sound?",
                conversation=w.conversation,
                streaming=bool(ending),
                temperature=0.1,
            ),
        )
        for ending in ("", "_stream")
    ),
    *(
        Operation(
            f"conversations.restart{ending}",
            lambda m, w, ending=ending: _asked(
                m,
                f"restart{ending}",
                conversation_id=w.conversation,
                from_entry_id=w.entry,
                inputs="And sound?",
                metadata={"team": "b"},
            ),
            lambda c, w, ending=ending: c.rag.agent.conversations.restart(
                w.conversation,
                w.entry,
                "And sound?",
                metadata={"team": "b"},
                streaming=bool(ending),
            ),
        )
        for ending in ("", "_stream")
    ),
    Operation(
        "conversations.list",
        lambda m, w: m.beta.conversations.list(),
        lambda c, w: list(c.rag.agent.conversations.list()),
    ),
    Operation(
        "conversations.list by metadata",
        lambda m, w: m.beta.conversations.list(metadata={"team": "a"}, page_size=9),
        lambda c, w: list(c.rag.agent.conversations.list(metadata={"team": "a"}, page_size=9)),
    ),
    *(
        Operation(
            f"conversations.{theirs}",
            lambda m, w, theirs=theirs: getattr(m.beta.conversations, theirs)(
                conversation_id=w.conversation
            ),
            lambda c, w, ours=ours: getattr(c.rag.agent.conversations, ours)(w.conversation),
        )
        for theirs, ours in (
            ("get", "get"),
            ("get_history", "history"),
            ("get_messages", "messages"),
            ("delete", "delete"),
        )
    ),
]

OPERATIONS = [*FILES, *LIBRARIES, *SHARES, *DOCUMENTS, *CHAT, *CONVERSATIONS]
