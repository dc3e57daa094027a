"""`relay_app`: what is asked of Mistral, what is answered, who may ask, and how much."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Optional
from wsgiref.validate import validator

import pytest
from werkzeug.test import Client, TestResponse

from mistral_knowledge import FakeTransport, InvalidArgumentError, KnowledgeClient, Retry
from mistral_knowledge.models.libraries import Library
from mistral_knowledge.relay import relay_app
from mistral_knowledge.relay.app import RelayApp
from mistral_knowledge.relay.guard import Guard
from mistral_knowledge.relay.problems import Problem
from mistral_knowledge.transports.fake import Scripted, Stall

from .running import PATIENCE, events_in, wait_for_no_relay_threads

RAG, AGENT, PAGE = "/v3/retrieval/rag", "/v3/retrieval/agent", "/api/rag"
TOKEN = "relay-token-0123456789"
QUESTION = "Why is the sky blue?"
HOME = {"REMOTE_ADDR": "127.0.0.1"}
STREAM = {"query": QUESTION, "rag_generation_config": {"stream": True}}


@pytest.fixture
def library(client: KnowledgeClient) -> Library:
    made = client.libraries.create("Sky")
    client.documents.upload(made, ("sky.md", "The sky is blue by day."), wait=True)
    return made


@pytest.fixture
def app(client: KnowledgeClient, library: Library) -> Iterator[RelayApp]:
    yield relay_app(client, libraries=library)
    wait_for_no_relay_threads()


def asking(app: RelayApp) -> Client:
    return Client(app, use_cookies=False)


def ask(
    app: RelayApp, path: str, body: Any, headers: Optional[Dict[str, str]] = None, **environ: Any
) -> TestResponse:
    base = {**HOME, **environ}
    return asking(app).post(path, json=body, headers=headers or {}, environ_overrides=base)


def asked(fake: FakeTransport) -> Any:
    """The body of the last question that Mistral got."""
    return fake.requests[-1].json


# what comes back


def test_rag_streams_r2r_events(app: RelayApp) -> None:
    reply = ask(app, RAG, STREAM)
    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    names = [name for name, _ in events_in(reply.data)]
    assert set(names) == {"message", "search_results", "citation", "final_answer", "done"}
    assert names[-2:] == ["final_answer", "done"]


def test_rag_in_one_piece_is_wrapped_as_r2r_does(app: RelayApp) -> None:
    results = ask(app, RAG, {"query": QUESTION}).get_json()["results"]
    assert results["generated_answer"] == results["completion"] == "“The sky is blue by day.”"
    assert results["citations"][0]["source_title"] == "sky.md"
    (found,) = results["search_results"]["chunk_search_results"]
    assert found["title"] == "sky.md"
    assert results["metadata"]["ignored"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"query": QUESTION, "generation_config": {"stream": True}, "mode": "research"},
        {
            "message": {"role": "user", "content": QUESTION},
            "research_generation_config": {"stream": True},
            "mode": "research",
        },
        {"message": QUESTION, "generation_config": {"stream": True}, "mode": "research"},
    ],
)
def test_the_agent_takes_the_guide_s_form_and_the_client_s(app: RelayApp, body: Any) -> None:
    names = {name for name, _ in events_in(ask(app, AGENT, body).data)}
    assert {"thinking", "tool_call", "tool_result", "search_results", "message"} <= names
    assert {"citation", "final_answer", "done"} <= names


def test_the_agent_in_one_piece_gives_messages_and_a_conversation_to_go_on(app: RelayApp) -> None:
    first = ask(app, AGENT, {"query": QUESTION}).get_json()["results"]
    assert first["messages"][0]["content"] == "“The sky is blue by day.”"
    more = {"query": QUESTION, "conversation_id": first["conversation_id"], "rag_tools": ["rag"]}
    again = ask(app, AGENT, more)
    assert again.status_code == 200
    assert again.get_json()["results"]["conversation_id"] == first["conversation_id"]


def test_the_page_s_route_streams_envelopes_and_goes_on_with_a_conversation(app: RelayApp) -> None:
    text = ask(app, PAGE, {"query": QUESTION, "stream": True, "conversation": True}).data
    frames = [json.loads(one[len("data: ") :]) for one in text.decode("ascii").split("\n\n") if one]
    assert frames[-1]["event"] == "final_answer"
    assert "tool_call" in {frame["event"] for frame in frames}
    conversation_id = frames[-1]["data"]["conversation_id"]
    more = {"query": QUESTION, "stream": False, "conversation_id": conversation_id}
    whole = ask(app, PAGE, more).get_json()
    assert whole["event"] == "final_answer"
    assert whole["data"]["conversation_id"] == conversation_id


@pytest.mark.parametrize("prefix", ["", "/", "/api/r2r"])
def test_r2r_s_paths_are_found_behind_a_slash_too_many_and_a_host_s_prefix(
    app: RelayApp, prefix: str
) -> None:
    reply = ask(app, RAG, {"query": QUESTION}, PATH_INFO=f"{prefix}{RAG}")
    assert reply.status_code == 200


def test_the_page_is_served_with_a_policy_that_lets_nothing_else_run(app: RelayApp) -> None:
    reply = asking(app).get("/")
    assert reply.status_code == 200
    assert reply.mimetype == "text/html"
    assert reply.headers["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    kinds = [asking(app).get(path).mimetype for path in ("/page.css", "/page.js")]
    assert kinds == ["text/css", "text/javascript"]


def test_health_is_told_without_asking_mistral(app: RelayApp, fake: FakeTransport) -> None:
    before = len(fake.requests)
    assert asking(app).get("/healthz").get_json() == {"status": "ok"}
    assert len(fake.requests) == before


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v3/retrieval/search", 404),
        ("GET", "/../app.py", 404),
        ("GET", RAG, 405),
        ("POST", "/", 405),
        ("DELETE", PAGE, 405),
    ],
)
def test_other_addresses_and_methods_are_refused_in_r2r_s_shape(
    app: RelayApp, method: str, path: str, status: int
) -> None:
    reply = asking(app).open(path, method=method, environ_overrides=HOME)
    assert reply.status_code == status
    assert set(reply.get_json()) == {"message", "error_type"}


# what is asked of Mistral


def test_generation_settings_become_mistral_s(app: RelayApp, fake: FakeTransport) -> None:
    config = {
        "model": "mistral/mistral-large-latest",
        "temperature": 0,
        "top_p": 0.9,
        "max_tokens_to_sample": 100,
        "extended_thinking": True,
        "thinking_budget": 4096,
    }
    reply = ask(app, RAG, {"query": QUESTION, "rag_generation_config": config})
    body = asked(fake)
    names = ("model", "temperature", "top_p", "max_tokens", "reasoning_effort")
    assert [body[name] for name in names] == ["mistral-large-latest", 0, 0.9, 100, "high"]
    assert reply.headers["X-Relay-Ignored"] == "rag_generation_config.thinking_budget"


def test_a_task_prompt_is_told_to_the_model(app: RelayApp, fake: FakeTransport) -> None:
    ask(app, RAG, {"query": QUESTION, "task_prompt": "Be brief."})
    assert [one["role"] for one in asked(fake)["messages"]] == ["system", "user"]
    ask(app, AGENT, {"query": QUESTION, "task_prompt": "Be brief."})
    assert asked(fake)["instructions"] == "Be brief."


@pytest.mark.parametrize(
    ("body", "tools"),
    [
        ({}, ["document_library"]),
        ({"rag_tools": ["web_search", "web_scrape"]}, ["document_library", "web_search"]),
        (
            {"mode": "research"},
            ["document_library", "web_search_premium", "code_interpreter"],
        ),
        (
            {"mode": "research", "rag_tools": ["web_search"], "research_tools": ["reasoning"]},
            ["document_library", "web_search_premium"],
        ),
        (
            {"mode": "research", "rag_tools": ["search_file_knowledge"]},
            ["document_library", "code_interpreter"],
        ),
    ],
)
def test_tools_and_modes_become_mistral_s(
    app: RelayApp, fake: FakeTransport, body: Dict[str, Any], tools: List[str]
) -> None:
    assert ask(app, AGENT, {"query": QUESTION, **body}).status_code == 200
    assert [tool["type"] for tool in asked(fake)["tools"]] == tools


def test_web_search_is_asked_for(app: RelayApp, fake: FakeTransport) -> None:
    ask(app, RAG, {"query": QUESTION, "include_web_search": True})
    ask(app, PAGE, {"query": QUESTION, "web_search": True, "stream": False})
    for request in fake.requests[-2:]:
        types = [tool["type"] for tool in request.json["tools"]]
        assert types == ["document_library", "web_search"]


def test_a_model_of_another_provider_is_ignored_with_a_word(
    app: RelayApp, fake: FakeTransport
) -> None:
    config = {"model": "anthropic/claude-3-7-sonnet-20250219"}
    reply = ask(app, AGENT, {"query": QUESTION, "generation_config": config})
    assert asked(fake)["model"] == "mistral-medium-latest"
    told = reply.get_json()["results"]["messages"][0]["metadata"]["ignored"]
    assert told == ["generation_config.model: only models of Mistral's can answer"]


def test_the_whole_form_of_r2r_s_client_is_no_reason_for_a_word(app: RelayApp) -> None:
    form = {
        "query": QUESTION,
        "rag_generation_config": None,
        "search_settings": None,
        "task_prompt": None,
        "include_title_if_available": False,
        "include_web_search": False,
        "search_mode": "custom",
    }
    assert "X-Relay-Ignored" not in ask(app, RAG, form).headers


def test_a_field_nobody_knows_is_ignored_and_cannot_get_into_a_header(app: RelayApp) -> None:
    reply = ask(app, RAG, {"query": QUESTION, "what": 1, "a\r\nSet-Cookie: b": 2})
    assert reply.headers["X-Relay-Ignored"] == "what"
    assert "Set-Cookie" not in reply.headers


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        (RAG, {}, "query: there is no question"),
        (RAG, {"query": 7}, "query: a text"),
        (RAG, {"query": "?", "rag_generation_config": 1}, "rag_generation_config: an object"),
        (RAG, {"query": "?", "rag_generation_config": {"stream": "yes"}}, "stream: true or false"),
        (RAG, {"query": "?", "rag_generation_config": {"temperature": "1"}}, "temperature: a numb"),
        (RAG, {"query": "?", "rag_generation_config": {"top_p": 10**400}}, "top_p: a number"),
        (RAG, {"query": "?", "rag_generation_config": {"api_base": "http://x"}}, "nobody else"),
        (RAG, {"query": "?", "rag_generation_config": {"tools": [{}]}}, "cannot run functions"),
        (RAG, {"query": "?", "search_settings": {"filters": {"a": 1}}}, "only collection_ids"),
        (AGENT, {"query": "?", "mode": "chat"}, "'rag' or 'research'"),
        (AGENT, {"messages": [{"role": "user"}]}, "send one `message`"),
        (AGENT, {"message": {"role": "system", "content": "?"}}, "role user"),
        (AGENT, {"query": "?", "rag_tools": ["shell"]}, "no tool of that name"),
        (AGENT, {"query": "?", "rag_tools": "web_search"}, "a list of names"),
        (PAGE, {"query": "?", "conversation_id": 7}, "conversation_id: a text"),
        (PAGE, [], "no JSON object"),
    ],
)
def test_what_cannot_be_asked_gets_422_and_a_reason(
    app: RelayApp, fake: FakeTransport, path: str, body: Any, words: str
) -> None:
    before = len(fake.requests)
    reply = ask(app, path, body)
    assert reply.status_code == 422
    assert words in reply.get_json()["message"]
    assert len(fake.requests) == before


def test_a_filter_chooses_among_the_relay_s_libraries_and_no_others(
    client: KnowledgeClient, fake: FakeTransport, library: Library
) -> None:
    other = client.libraries.create("Sea")
    private = client.libraries.create("Private")
    app = relay_app(client, libraries=[library, other])

    def status(condition: Any) -> int:
        settings = {"filters": {"collection_ids": condition}}
        return ask(app, RAG, {"query": QUESTION, "search_settings": settings}).status_code

    assert status({"$overlap": [library.id]}) == 200
    assert asked(fake)["tools"][0]["library_ids"] == [library.id]
    before = len(fake.requests)
    assert [status({"$in": [library.id, private.id]}), status({"$eq": private.id})] == [403, 403]
    assert [status({"$ne": library.id}), status([]), status(5)] == [422, 422, 422]
    assert len(fake.requests) == before


@pytest.mark.parametrize("path", [AGENT, PAGE])
def test_only_conversations_of_the_relay_can_be_continued(
    client: KnowledgeClient, fake: FakeTransport, app: RelayApp, library: Library, path: str
) -> None:
    private = client.rag.agent.query("What is my salary?", libraries=library).conversation_id
    before = len(fake.requests)
    for guess in (private, f"{private}.", f"{private}.{'0' * 32}", f"{private}.\u00e9"):
        reply = ask(app, path, {"query": QUESTION, "conversation_id": guess})
        assert reply.status_code == 404
    assert len(fake.requests) == before


def test_processes_with_one_token_know_each_other_s_conversations(
    client: KnowledgeClient, library: Library
) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    one, two = (relay_app(client, libraries=library, token=TOKEN) for _ in range(2))
    first = ask(one, AGENT, {"query": QUESTION}, bearer).get_json()["results"]
    more = {"query": QUESTION, "conversation_id": first["conversation_id"]}
    assert ask(two, AGENT, more, bearer).status_code == 200


# who may ask


def test_without_a_token_only_this_machine_may_ask(app: RelayApp) -> None:
    def status(address: str, **environ: str) -> int:
        return ask(app, RAG, {"query": QUESTION}, REMOTE_ADDR=address, **environ).status_code

    assert [status(one) for one in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1")] == [
        200
    ] * 4
    assert [status(one) for one in ("10.0.0.1", "8.8.8.8", "", "unix:", "::ffff:8.8.8.8")] == [
        403
    ] * 5
    assert status("127.0.0.1", HTTP_X_FORWARDED_FOR="8.8.8.8") == 403


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:7272", 200),
        ("127.0.0.1", 200),
        ("[::1]:7272", 200),
        ("evil.example:7272", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("127.0.0.1@evil.example", 403),
        ("", 403),
    ],
)
def test_a_name_that_was_bound_to_this_machine_gets_nothing(
    app: RelayApp, host: str, status: int
) -> None:
    assert ask(app, RAG, {"query": QUESTION}, HTTP_HOST=host).status_code == status


def test_a_host_that_is_no_host_is_refused() -> None:
    guard = Guard(None, ())
    for host in ("[", "[::1", "a]b", "\x00"):
        with pytest.raises(Problem) as caught:
            guard.check({"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": host})
        assert caught.value.status == 403


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost", 200),
        ("https://evil.example", 403),
        ("http://localhost:3000", 403),
        ("null", 403),
    ],
)
def test_pages_of_other_origins_may_not_ask(app: RelayApp, origin: str, status: int) -> None:
    reply = ask(app, PAGE, {"query": QUESTION, "stream": False}, {"Origin": origin})
    assert reply.status_code == status
    assert "Access-Control-Allow-Origin" not in reply.headers


def test_origins_that_are_named_may_ask(client: KnowledgeClient, library: Library) -> None:
    origin = "http://localhost:3000"
    app = relay_app(client, libraries=library, cors=[origin])
    reply = ask(app, PAGE, {"query": QUESTION, "stream": False}, {"Origin": origin})
    assert reply.status_code == 200
    assert reply.headers["Access-Control-Allow-Origin"] == origin
    before = asking(app).options(PAGE, headers={"Origin": origin})
    assert (before.status_code, before.headers["Access-Control-Allow-Methods"]) == (204, "POST")
    other = asking(app).options(PAGE, headers={"Origin": "https://evil.example"})
    assert other.status_code == 403
    assert "Access-Control-Allow-Origin" not in other.headers


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_form_of_another_site_could_send_is_refused(app: RelayApp, kind: str) -> None:
    body = json.dumps({"query": QUESTION})
    reply = asking(app).post(PAGE, data=body, content_type=kind, environ_overrides=HOME)
    assert reply.status_code == 415


def test_with_a_token_every_question_needs_it_from_wherever_it_comes(
    client: KnowledgeClient, library: Library
) -> None:
    app = relay_app(client, libraries=library, token=TOKEN)

    def status(headers: Dict[str, str], address: str = "8.8.8.8") -> int:
        return ask(app, RAG, {"query": QUESTION}, headers, REMOTE_ADDR=address).status_code

    assert status({"Authorization": f"Bearer {TOKEN}"}) == 200
    assert status({"authorization": f"bearer {TOKEN}"}) == 200
    assert status({"x-api-key": TOKEN}) == 200
    wrong = [{}, {"x-api-key": ""}, {"x-api-key": TOKEN[:-1]}, {"Authorization": f"Basic {TOKEN}"}]
    assert [status(headers) for headers in [*wrong, {"x-api-key": "\u00e9"}]] == [401] * 5
    assert status({}, "127.0.0.1") == 401
    assert asking(app).get("/", environ_overrides={"REMOTE_ADDR": "8.8.8.8"}).status_code == 200


@pytest.mark.parametrize(
    "arguments",
    [
        {"token": ""},
        {"token": "p q"},
        {"token": "pq\n"},
        {"cors": ["*"]},
        {"cors": "https://a.example"},
        {"cors": ["https://a.example/"]},
        {"max_streams": 0},
        {"max_request_bytes": 0},
        {"heartbeat": 0},
        {"libraries": []},
    ],
)
def test_arguments_that_cannot_work_are_refused(client: KnowledgeClient, arguments: Any) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        relay_app(client, **{"libraries": "lib", **arguments})
    assert "p q" not in str(caught.value)


# how much


@pytest.mark.parametrize("length", [True, False])
def test_a_long_body_gets_413(client: KnowledgeClient, fake: FakeTransport, length: bool) -> None:
    app = relay_app(client, libraries="lib", max_request_bytes=100)
    body = json.dumps({"query": "x" * 200})
    environ = {**HOME, **({} if length else {"wsgi.input_terminated": True})}
    headers = {} if length else {"Transfer-Encoding": "chunked"}
    reply = asking(app).post(
        RAG, data=body, content_type="application/json", headers=headers, environ_overrides=environ
    )
    assert reply.status_code == 413
    assert fake.requests == []


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_gets_422(app: RelayApp, body: bytes) -> None:
    kind = "application/json"
    reply = asking(app).post(RAG, data=body, content_type=kind, environ_overrides=HOME)
    assert reply.status_code == 422


def test_more_answers_at_once_than_allowed_get_429_until_one_ends() -> None:
    stall = Stall()
    events = Scripted.events(b": hello\n\n", stall)
    fake = FakeTransport(script=[events, Scripted(json={"choices": []}), events])
    client = KnowledgeClient(transport=fake, retries=0)
    app = relay_app(client, libraries="lib", max_streams=1, heartbeat=0.01)
    first = ask(app, RAG, STREAM)
    assert stall.reached.wait(PATIENCE)
    reply = ask(app, RAG, STREAM)
    assert (reply.status_code, reply.headers["Retry-After"]) == (429, "5")
    assert reply.get_json()["error_type"] == "RateLimitError"
    first.close()
    wait_for_no_relay_threads()
    assert ask(app, RAG, {"query": QUESTION}).status_code != 429
    wait_for_no_relay_threads()


# errors


def failing(*replies: Scripted, **arguments: Any) -> TestResponse:
    fake = FakeTransport(script=list(replies))
    client = KnowledgeClient(transport=fake, retries=Retry(0))
    return ask(relay_app(client, libraries="lib", heartbeat=5), RAG, {**STREAM, **arguments})


@pytest.mark.parametrize(
    ("status", "told"), [(401, 502), (403, 502), (404, 502), (422, 422), (429, 429), (500, 502)]
)
@pytest.mark.parametrize("stream", [True, False])
def test_what_mistral_refuses_has_a_status(status: int, told: int, stream: bool) -> None:
    words = "see https://files.test/a?sig=s3cret"
    refusal = Scripted(status=status, json={"message": words}, headers={"retry-after": "7"})
    reply = failing(refusal, rag_generation_config={"stream": stream})
    assert reply.status_code == told
    assert reply.headers.get("Retry-After") == ("7" if status == 429 else None)
    assert "https://files.test/a?***" in reply.get_json()["message"]
    assert b"s3cret" not in reply.data


def test_an_answer_that_is_cut_in_one_piece_is_no_answer() -> None:
    reply = failing(Scripted.events(b": hello\n\n"), rag_generation_config={})
    assert reply.status_code == 502
    assert "results" not in reply.get_json()
    wait_for_no_relay_threads()


def test_an_error_that_comes_late_is_an_event() -> None:
    stall = Stall()
    fake = FakeTransport(script=[Scripted.events(b": hello\n\n", stall)])
    client = KnowledgeClient(transport=fake, retries=0)
    app = relay_app(client, libraries="lib", heartbeat=0.01)
    reply = ask(app, RAG, STREAM)
    assert stall.reached.wait(PATIENCE)
    app.close()
    (error, done) = events_in(reply.data)
    assert error[0] == "error"
    assert error[1]["error"]["message"] == "Agent error: the relay is closing"
    assert done == ("done", "[DONE]")
    wait_for_no_relay_threads()


def test_the_relay_without_werkzeug_says_what_to_install(run_python: Any) -> None:
    code = (
        "import sys; sys.modules['werkzeug'] = None\n"
        "from mistral_knowledge import ConfigurationError\n"
        "from mistral_knowledge.relay import relay_app, sse\n"
        "try: relay_app(None, libraries='lib')\n"
        "except ConfigurationError as error: print(error)\n"
    )
    done = run_python("-c", code)
    assert done.stdout.strip() == (
        'the relay needs Werkzeug: pip install "mistral-knowledge[relay]"'
    ), done.stderr


def test_it_keeps_to_the_rules_of_wsgi(app: RelayApp) -> None:
    checked: Any = validator(app)
    replies = [ask(checked, RAG, STREAM), ask(checked, RAG, {"query": QUESTION})]
    replies += [ask(checked, PAGE, {}), asking(checked).get("/")]
    for reply in replies:
        assert reply.get_data()
        reply.close()
    assert [reply.status_code for reply in replies] == [200, 200, 422, 200]


def test_a_mistral_key_that_is_quoted_back_is_hidden() -> None:
    class Keyed(FakeTransport):
        needs_key = True

    key = "sk-live-0123456789"
    refusal = Scripted(status=401, json={"message": f"no such key: {key}"})
    client = KnowledgeClient(key, transport=Keyed(script=[refusal]))
    reply = ask(relay_app(client, libraries="lib", heartbeat=5), RAG, STREAM)
    assert reply.status_code == 502
    assert key not in reply.get_data(as_text=True)
