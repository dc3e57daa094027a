"""Every tool, in success and in every failure: nothing secret in details, logs, reprs or errors."""

from __future__ import annotations

import json
import pickle
from typing import Any, Dict, List

import pytest

from mistral_knowledge import KnowledgeClient, NotSentError, RequestTimeoutError
from mistral_knowledge.tools import ToolResult, knowledge_tools
from mistral_knowledge.transports.fake import Cut, Scripted

from ..answers.wire import chunk, good, sse
from ..test_secrets_sweep import ID, KEY, PROMPT, SECRETS, SIGNED, Everything, Keyed, log

__all__ = ["log"]  # a fixture

WORDS = f"{KEY} may not read {SIGNED} for Bearer {KEY}"
CITED = [{"type": "document_url", "document_url": SIGNED, "document_name": "d.pdf"}]
CHAT = "/v1/chat/completions"

ARGUMENTS: Dict[str, Dict[str, Any]] = {
    "mistral_file_upload": {"text": "zebra-content-of-the-file", "name": "a.txt"},
    "mistral_library_create": {"name": "Notes"},
    "mistral_library_list": {},
    "mistral_document_upload": {
        "library_id": ID,
        "text": "zebra-content-of-the-file",
        "name": "a.txt",
    },
    "mistral_document_list": {"library_id": ID},
    "mistral_document_status": {"library_id": ID, "document_id": ID},
    "mistral_document_signed_url": {"library_id": ID, "document_id": ID},
    "mistral_document_reprocess": {"library_id": ID, "document_id": ID},
    "mistral_document_query": {"question": PROMPT, "library_ids": [ID]},
}

DOCUMENT = {"id": ID, "library_id": ID, "name": "d.pdf", "process_status": "done", "url": SIGNED}
GOOD: Dict[str, Any] = {
    "mistral_file_upload": {"id": ID, "filename": "a.txt", "signature": SIGNED},
    "mistral_library_create": {"id": ID, "name": "Notes"},
    "mistral_library_list": {"data": [{"id": ID, "name": "Notes"}]},
    "mistral_document_upload": DOCUMENT,
    "mistral_document_list": {"data": [DOCUMENT]},
    "mistral_document_status": DOCUMENT,
    "mistral_document_signed_url": SIGNED,
    "mistral_document_reprocess": None,
    "mistral_document_query": Scripted.events(good("Yes.", CITED)),
}


def good_reply(name: str) -> Scripted:
    reply = GOOD[name]
    if isinstance(reply, Scripted):
        return reply
    return Scripted(200, headers={"content-type": "application/json"}, json=reply)


FAILURES: Dict[str, Scripted] = {
    **{
        f"status {status}": Scripted(
            status, json={"message": WORDS, "code": SIGNED, "type": SIGNED, "request_id": SIGNED}
        )
        for status in (400, 401, 403, 404, 409, 413, 422, 429, 500, 503)
    },
    "html": Scripted(502, headers={"content-type": "text/html"}, steps=[WORDS.encode()]),
    "a redirect": Scripted(302, headers={"location": SIGNED}),
    "no JSON": Scripted(200, headers={"content-type": "application/json"}, steps=[WORDS.encode()]),
    "error in the stream": Scripted.events(sse(chunk("Half"), {"error": {"message": WORDS}})),
    "broken event": Scripted.events(sse(chunk("Half"), "{" + json.dumps(WORDS))),
    "cut": Scripted.events(sse(chunk("Half")), Cut()),
    "not sent": Scripted(raises=NotSentError(f"no connection to {SIGNED}")),
    "too slow": Scripted(raises=RequestTimeoutError("no reply in time", "first_byte")),
}


def executed(name: str, *script: Scripted) -> ToolResult:
    transport = Keyed(script=list(script))
    client = KnowledgeClient(KEY, transport=transport, retries=0)
    (tool,) = knowledge_tools(client, only=[name])
    return tool.execute(ARGUMENTS[name])


def shown(result: ToolResult) -> List[str]:
    texts = [repr(result), str(result.details), pickle.dumps(result.details).decode("latin-1")]
    return [*texts, repr(result.usage), *([result.content] if result.is_error else [])]


@pytest.mark.parametrize("failure", list(FAILURES))
@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_a_failed_call_shows_nothing_secret(name: str, failure: str, log: Everything) -> None:
    result = executed(name, FAILURES[failure])
    assert result.is_error is True
    texts = [*shown(result), *(text for _, text in log.seen)]
    assert [secret for secret in SECRETS for text in texts if secret in text] == []


@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_a_good_call_shows_its_secrets_only_where_they_belong(name: str, log: Everything) -> None:
    replies = [good_reply(name)] * (2 if name == "mistral_document_status" else 1)
    result = executed(name, *replies)
    assert result.is_error is False, result
    texts = [*shown(result), *(text for _, text in log.seen)]
    assert [secret for secret in SECRETS for text in texts if secret in text] == []
    told = str(result.content) + json.dumps(result.structured_content)
    assert ("giraffe-signature" in told) is (name == "mistral_document_signed_url")
    assert KEY not in told
