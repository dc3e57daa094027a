"""/v1/conversations as wire.md 3 describes it, answered by plain rules in place of a model."""

import json
import threading
from urllib.parse import quote

import pytest

from mistral_knowledge.errors import InvalidArgumentError
from mistral_knowledge.fake_api import KnowledgeApi

from .asking import FEES, NOWHERE, Asker, issues

PATH = "/v1/conversations"
QUESTION = "What is the entry fee?"
PAGES = [
    {"title": "Prices", "url": "https://museum.test/prices", "text": "The entry fee is 9 euros."},
    {"title": "Moon", "url": "https://moon.test", "text": "The moon is far away."},
]
ADD = {
    "type": "function",
    "function": {
        "name": "add_up",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a"],
        },
    },
}


def starting(inputs=QUESTION, **fields):
    owner = {} if "agent_id" in fields else {"model": "m"}
    return {"inputs": inputs, **owner, **fields}


def looking_into(library, **fields):
    tool = {"type": "document_library", "library_ids": [library.rpartition("/")[2]]}
    return {**tool, **fields}


def payloads(ask, path, body):
    """The payloads of a streamed reply; each has its type as its name too."""
    made = []
    for piece in ask.reply("POST", path, {**body, "stream": True}).pieces:
        name, data, *rest = piece.decode().split("\n")
        made.append(json.loads(data[len("data: ") :]))
        assert (name, rest) == (f"event: {made[-1]['type']}", ["", ""])
    return made


def kinds(entries):
    return [entry["type"] for entry in entries]


def text(reply):
    content = reply["outputs"][-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(chunk.get("text", "") for chunk in content)


def kept(ask, question=QUESTION, **fields):
    """The path of a conversation that was started."""
    return f"{PATH}/{ask('POST', PATH, starting(question, **fields))['conversation_id']}"


# libraries and the web


def test_a_library_is_searched_and_quoted_with_a_reference_behind_each_quote(ask, museum):
    tool, message = ask("POST", PATH, starting(tools=[looking_into(museum)]))["outputs"]
    words, reference = message["content"]
    assert json.loads(tool["arguments"])["query"] == QUESTION
    (result,) = tool["info"]["results"]
    assert (result["title"], result["score"] > 0) == ("fees.md", True)
    assert words == {"type": "text", "text": "“Fees — The entry fee is 12 euros.”"}
    assert (reference["tool"], reference["title"]) == ("document_library", "fees.md")
    assert reference["url"] == result["url"]
    assert ask.reply("GET", reference["url"]).body() == FEES
    assert ask("GET", f"{museum}/documents/{result['document_id']}")["name"] == "fees.md"


def test_usage_counts_the_tools_and_what_they_read(ask, museum):
    tools = [looking_into(museum), {"type": "web_search"}]
    usage = ask("POST", PATH, starting(tools=tools))["usage"]
    assert usage["connectors"] == {"document_library": 1, "web_search": 1}
    assert usage["connector_tokens"] == 9
    counts = [usage[name] for name in ("prompt_tokens", "completion_tokens", "connector_tokens")]
    assert usage["total_tokens"] == sum(counts)


def test_without_tools_it_says_what_it_is_and_counts_no_connectors(ask):
    reply = ask("POST", PATH, starting())
    assert "offline stand-in" in text(reply)
    assert (reply["usage"]["connector_tokens"], reply["usage"]["connectors"]) == (None, None)


@pytest.mark.parametrize("tool", ["web_search", "web_search_premium"])
def test_without_web_pages_it_says_that_there_is_no_web(ask, tool):
    reply = ask("POST", PATH, starting(tools=[{"type": tool}]))
    assert reply["outputs"][0]["info"] == {"results": []}
    assert "There is no web here" in text(reply)


@pytest.mark.parametrize("tool", ["web_search", "web_search_premium"])
def test_web_pages_that_were_given_are_found_and_cited(tool):
    with KnowledgeApi(web_pages=PAGES) as api:
        run, message = Asker(api)("POST", PATH, starting(tools=[{"type": tool}]))["outputs"]
    words, reference = message["content"]
    assert words["text"] == "“The entry fee is 9 euros.”"
    assert reference == {
        "type": "tool_reference",
        "tool": tool,
        "title": "Prices",
        "url": "https://museum.test/prices",
    }
    assert [result["url"] for result in run["info"]["results"]] == ["https://museum.test/prices"]


def test_where_no_web_page_fits_it_says_so():
    with KnowledgeApi(web_pages=PAGES) as api:
        reply = Asker(api)("POST", PATH, starting("Volcanoes?", tools=[{"type": "web_search"}]))
    assert text(reply).startswith("No web page")


def test_web_pages_need_title_url_and_text():
    with pytest.raises(InvalidArgumentError, match="title, url and text"):
        KnowledgeApi(web_pages=[{"title": "x", "url": "https://x"}])


def test_of_two_web_pages_at_one_place_the_later_one_counts():
    pages = [PAGES[0], {**PAGES[0], "text": "The entry fee is 8 euros."}]
    with KnowledgeApi(web_pages=pages) as api:
        assert "8 euros" in text(Asker(api)("POST", PATH, starting(tools=[{"type": "web_search"}])))


def test_code_is_never_run_and_the_tool_says_so_where_the_question_names_it(ask):
    tools = [{"type": "code_interpreter"}]
    unnamed = ask("POST", PATH, starting(tools=tools))
    named = ask("POST", PATH, starting("Use the code interpreter: print(1)", tools=tools))
    assert kinds(unnamed["outputs"]) == ["message.output"]
    assert kinds(named["outputs"]) == ["tool.execution", "message.output"]
    assert named["outputs"][0]["info"]["code_output"] in text(named)
    assert "was not run" in text(named)


def test_high_reasoning_effort_thinks_first_about_what_it_will_look_up(ask, museum):
    body = starting(tools=[looking_into(museum)], completion_args={"reasoning_effort": "high"})
    thought, *rest = ask("POST", PATH, body)["outputs"]
    (chunk,) = thought["content"]
    assert chunk["type"] == "thinking"
    assert "document_library" in chunk["thinking"][0]["text"]
    assert kinds(rest) == ["tool.execution", "message.output"]


def test_tool_choice_none_uses_no_tool(ask, museum):
    body = starting(tools=[looking_into(museum)], completion_args={"tool_choice": "none"})
    assert kinds(ask("POST", PATH, body)["outputs"]) == ["message.output"]


def test_max_tokens_cuts_the_answer(ask, museum):
    body = starting(tools=[looking_into(museum)], completion_args={"max_tokens": 4})
    assert text(ask("POST", PATH, body)) == "“Fees — The"


# the stream


EVERYTHING = {
    "a plain text": starting(),
    "thinking": starting(completion_args={"reasoning_effort": "high"}),
    "a function": starting("add_up 1 and 2", tools=[ADD]),
    "leave": starting(
        tools=[
            {
                "type": "web_search",
                "tool_configuration": {"requires_confirmation": ["web_search"]},
            }
        ]
    ),
}


def joined(events):
    """The outputs that events add up to, without what differs from call to call."""
    outputs = {}
    for event in events:
        place = event.get("output_index")
        if place is not None:
            _join(outputs.setdefault(place, {}), event)
    return [outputs[place] for place in sorted(outputs)]


def _join(entry, event):
    entry.setdefault("type", event["type"].rpartition(".")[0])
    entry["arguments"] = entry.get("arguments", "") + event.get("arguments", "")
    for name in ("name", "info", "confirmation_status"):
        entry[name] = event.get(name, entry.get(name))
    content, parts = event.get("content"), entry.setdefault("content", {})
    if content is not None:
        parts.setdefault(event["content_index"], []).append(content)


def bare(outputs):
    names = ("type", "arguments", "name", "info", "confirmation_status", "content")
    return [{name: entry.get(name) for name in names} for entry in outputs]


def flat(content):
    """Content as one text a part, whether streamed or whole."""
    parts = content.values() if isinstance(content, dict) else [[part] for part in content]
    return ["".join(map(_flat, part)) for part in parts]


def _flat(part):
    if isinstance(part, str):
        return part
    if part["type"] == "thinking":
        return part["thinking"][0]["text"]
    return part["text"] if part["type"] == "text" else json.dumps(part)


def same(events, outputs):
    streamed, whole = bare(joined(events)), bare(outputs)
    for one, other in zip(streamed, whole):
        content = other["content"] if isinstance(other["content"], list) else [other["content"]]
        one["content"] = flat(one["content"]) if one["content"] else []
        other["content"] = flat(content) if other["content"] else []
        other["arguments"] = other["arguments"] or ""
    return streamed == whole


@pytest.mark.parametrize("body", EVERYTHING.values(), ids=EVERYTHING)
def test_the_events_add_up_to_the_one_shot_outputs(ask, body):
    assert same(payloads(ask, PATH, body), ask("POST", PATH, body)["outputs"])


def test_the_events_of_a_search_add_up_to_the_one_shot_outputs(ask, museum):
    ask.ready(museum, "more.md", b"The entry fee for a group is 90 euros.")
    body = starting(tools=[looking_into(museum), {"type": "web_search"}])
    assert same(payloads(ask, PATH, body), ask("POST", PATH, body)["outputs"])


def test_a_stream_begins_with_the_id_and_ends_with_the_usage(ask, museum):
    body = starting(tools=[looking_into(museum)])
    first, *_, last = payloads(ask, PATH, body)
    assert first["type"] == "conversation.response.started"
    assert ask.status("GET", f"{PATH}/{first['conversation_id']}") == 200
    assert last["type"] == "conversation.response.done"
    assert last["usage"] == ask("POST", PATH, body)["usage"]


def test_a_delta_is_a_text_or_one_chunk_at_its_content_index(ask, museum):
    events = payloads(ask, PATH, starting(tools=[looking_into(museum)]))
    deltas = [event for event in events if event["type"] == "message.output.delta"]
    assert {event["content_index"] for event in deltas} == {0, 1}
    assert deltas[-1]["content"]["type"] == "tool_reference"
    assert all(len(event["content"].split()) <= 3 for event in deltas[:-1])


def test_tool_and_function_arguments_come_in_fragments(ask, museum):
    events = payloads(ask, PATH, starting(tools=[looking_into(museum)]))
    assert [kind for kind in kinds(events) if "tool" in kind][:2] == [
        "tool.execution.started",
        "tool.execution.delta",
    ]
    calls = payloads(ask, PATH, starting("add_up 123456 and 234567", tools=[ADD]))[1:-1]
    assert "".join(call["arguments"] for call in calls) == '{"a":123456,"b":234567}'
    assert (len(calls) > 1, len({call["tool_call_id"] for call in calls})) == (True, 1)


def test_a_stream_that_is_left_has_been_kept_all_the_same(ask):
    pieces = iter(ask.reply("POST", PATH, starting(stream=True)).pieces)
    started = json.loads(next(pieces).split(b"data: ")[1])
    assert kinds(ask("GET", f"{PATH}/{started['conversation_id']}/messages")["messages"]) == [
        "message.input",
        "message.output",
    ]


# functions


ARGUMENTS = {
    "a JSON object": ('add_up {"a": 5, "b": 6} {"a": 7}', {"a": 5, "b": 6}),
    "an object before the name": ('{"a": 5} add_up', {"a": 5}),
    "broken JSON": ('add_up {"a": 5', {"a": 5}),
    "numbers": ("Please add up 41 and 1.", {"a": 41, "b": 1}),
    "one number": ("ADD-UP -3", {"a": -3}),
    "nothing": ("add_up please", {"a": 0}),
}


@pytest.mark.parametrize(("question", "arguments"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_function_is_called_where_the_question_names_it(ask, question, arguments):
    (call,) = ask("POST", PATH, starting(question, tools=[ADD]))["outputs"]
    assert (call["type"], call["name"]) == ("function.call", "add_up")
    assert (json.loads(call["arguments"]), call["confirmation_status"]) == (arguments, None)


@pytest.mark.parametrize("question", ["What is 1 and 2?", "madd_up", "add_ups", "add them up"])
def test_a_function_that_is_not_named_is_not_called(ask, question):
    reply = ask("POST", PATH, starting(question, tools=[ADD]))
    assert kinds(reply["outputs"]) == ["message.output"]
    assert "add_up" in text(reply)


SCHEMAS = {
    "quoted text": ({"type": "string"}, "Ada"),
    "a default": ({"type": "string", "default": "x"}, "x"),
    "a constant": ({"const": 3}, 3),
    "the first of an enum": ({"enum": ["km", "mi"]}, "km"),
    "a number with a point": ({"type": "number"}, 2.5),
    "a flag": ({"type": "boolean"}, False),
    "a list": ({"type": "array"}, []),
    "an object": ({"type": "object"}, {}),
    "what may be null": ({"anyOf": [{"type": "null"}, {"type": "number"}]}, 2.5),
    "anything": ({}, "Ada"),
    "no schema": (True, "Ada"),
}


@pytest.mark.parametrize(("schema", "value"), SCHEMAS.values(), ids=SCHEMAS)
def test_arguments_come_from_the_schema_and_the_question(ask, schema, value):
    parameters = {"properties": {"x": schema}, "required": ["x"]}
    tool = {"type": "function", "function": {"name": "look", "parameters": parameters}}
    (call,) = ask("POST", PATH, starting('look for "Ada" 2.5 times', tools=[tool]))["outputs"]
    assert json.loads(call["arguments"]) == {"x": value}


def test_a_text_that_is_not_quoted_is_the_question(ask):
    parameters = {"properties": {"x": {"type": "string"}}, "required": ["x"]}
    tool = {"type": "function", "function": {"name": "look", "parameters": parameters}}
    (call,) = ask("POST", PATH, starting("look around", tools=[tool]))["outputs"]
    assert json.loads(call["arguments"]) == {"x": "look around"}


def test_any_calls_the_first_function_once(ask):
    arguments = {"tool_choice": "any"}
    body = starting("Hello", tools=[ADD], completion_args=arguments)
    reply = ask("POST", PATH, body)
    assert kinds(reply["outputs"]) == ["function.call"]
    path = f"{PATH}/{reply['conversation_id']}"
    assert kinds(ask("POST", path, {"inputs": [result(reply, "0")]})["outputs"]) == [
        "message.output"
    ]


def result(reply, value):
    call_id = reply["outputs"][0]["tool_call_id"]
    return {"type": "function.result", "tool_call_id": call_id, "result": value}


def test_after_the_result_it_answers_with_it(ask):
    reply = ask("POST", PATH, starting("add_up 41 and 1", tools=[ADD]))
    path = f"{PATH}/{reply['conversation_id']}"
    answer = ask("POST", path, {"inputs": [result(reply, "42")]})
    assert (text(answer), answer["conversation_id"]) == (
        "add_up gave: 42",
        reply["conversation_id"],
    )
    assert kinds(ask("GET", f"{path}/history")["entries"]) == [
        "message.input",
        "function.call",
        "function.result",
        "message.output",
    ]


def test_without_a_store_the_whole_exchange_can_be_given_as_inputs(ask):
    question = {"role": "user", "content": "add_up 41 and 1"}
    reply = ask("POST", PATH, starting([question], tools=[ADD], store=False))
    inputs = [question, *reply["outputs"], result(reply, "42")]
    assert text(ask("POST", PATH, starting(inputs, store=False))) == "add_up gave: 42"


def test_results_that_answer_no_call_and_calls_without_result_are_400(ask):
    reply = ask("POST", PATH, starting("add_up 1", tools=[ADD]))
    path = f"{PATH}/{reply['conversation_id']}"
    stray = {"type": "function.result", "tool_call_id": "none", "result": "1"}
    for inputs in ([stray], "Never mind", [result(reply, "1"), result(reply, "1")]):
        refusal = ask("POST", path, {"inputs": inputs})
        assert (refusal["object"], refusal["code"]) == ("error", "3230")
    assert kinds(ask("GET", f"{path}/history")["entries"]) == ["message.input", "function.call"]


# leave


def asking_first(tool, *names):
    return {**tool, "tool_configuration": {"requires_confirmation": list(names)}}


MAIL = asking_first({"type": "connector", "connector_id": "mail"}, "send_mail")


def pending(ask, *tools, question=QUESTION):
    reply = ask("POST", PATH, starting(question, tools=list(tools)))
    return f"{PATH}/{reply['conversation_id']}", reply["outputs"]


def decide(ask, path, calls, *decisions):
    confirmations = [
        {"tool_call_id": call["tool_call_id"], "confirmation": decision}
        for call, decision in zip(calls, decisions)
    ]
    return ask("POST", path, {"tool_confirmations": confirmations})


def test_a_tool_that_needs_leave_waits_for_it(ask, museum):
    path, calls = pending(ask, asking_first(looking_into(museum), "document_library"))
    assert [(call["name"], call["confirmation_status"]) for call in calls] == [
        ("document_library", "pending")
    ]
    answer = decide(ask, path, calls, "allow")
    assert kinds(answer["outputs"]) == ["tool.execution", "message.output"]
    assert "12 euros" in text(answer)


def test_a_tool_that_is_refused_leave_is_not_run_and_it_says_so(ask, museum):
    path, calls = pending(ask, asking_first(looking_into(museum), "document_library"))
    answer = decide(ask, path, calls, "deny")
    assert kinds(answer["outputs"]) == ["message.output"]
    assert "leave was refused" in text(answer)


def test_several_decisions_may_differ_and_are_in_the_history(ask, museum):
    tools = [asking_first(looking_into(museum), "document_library"), MAIL]
    path, calls = pending(ask, *tools, question="Send mail about the entry fee")
    answer = decide(ask, path, calls, "allow", "deny")
    assert "12 euros" in text(answer)
    assert "send_mail was not run: leave was refused." in text(answer)
    history = ask("GET", f"{path}/history")["entries"]
    assert [entry["confirmation_status"] for entry in history[1:3]] == ["allowed", "denied"]


def test_a_decision_about_nothing_and_a_missing_one_are_400(ask, museum):
    path, calls = pending(ask, asking_first(looking_into(museum), "document_library"))
    stray = [{"tool_call_id": "none", "confirmation": "allow"}]
    assert ask.status("POST", path, {"tool_confirmations": stray}) == 400
    assert ask.status("POST", path, {"inputs": "Never mind"}) == 400
    decide(ask, path, calls, "deny")
    again = [{"tool_call_id": calls[0]["tool_call_id"], "confirmation": "allow"}]
    assert ask.status("POST", path, {"tool_confirmations": again}) == 400


def test_a_connectors_tool_is_not_run_here_and_says_so(ask):
    path, calls = pending(ask, MAIL, question="Send mail")
    answer = decide(ask, path, calls, "allow")
    assert text(answer) == "send_mail was not run: this is the offline stand-in."


# conversations that are kept


def test_a_conversation_shows_how_it_was_started(ask):
    path = kept(ask, name="n", metadata={"a": 1}, instructions="Be short.")
    shown = ask("GET", path)
    assert (shown["object"], shown["model"], shown["name"]) == ("conversation", "m", "n")
    assert (shown["metadata"], shown["instructions"]) == ({"a": 1}, "Be short.")
    assert (shown["tools"], shown["completion_args"]) == ([], {"tool_choice": "auto"})


def test_append_keeps_tools_and_arguments_and_answers_the_new_question(ask, museum):
    path = kept(ask, tools=[looking_into(museum)], completion_args={"max_tokens": 3})
    answer = ask("POST", path, {"inputs": "When does the museum close?"})
    assert text(answer) == "“Hours —"
    whole = ask("POST", path, {"inputs": "And?", "completion_args": {"max_tokens": 99}})
    assert "No passage" in text(whole)


def test_the_list_has_pages_and_is_newest_first(ask):
    ids = [kept(ask).rpartition("/")[2] for _ in range(3)]
    assert [one["id"] for one in ask("GET", PATH)] == ids[::-1]
    assert [one["id"] for one in ask("GET", f"{PATH}?page=1&page_size=2")] == ids[:1]
    assert ask("GET", f"{PATH}?page=9") == []


UNSET = '"~?~unset~?~sentinel~?~"'


@pytest.mark.parametrize(
    ("wanted", "count"),
    [('{"a": 1}', 2), ('{"a": 1, "b": [2]}', 1), ('{"c": 1}', 0), ("{}", 3), ("", 3), (UNSET, 3)],
)
def test_the_list_can_be_narrowed_by_metadata(ask, wanted, count):
    kept(ask)
    kept(ask, metadata={"a": 1})
    kept(ask, metadata={"a": 1, "b": [2]})
    assert len(ask("GET", f"{PATH}?metadata={quote(wanted)}")) == count


@pytest.mark.parametrize("wanted", ["{", "[1]", "5"])
def test_metadata_that_is_no_object_is_422(ask, wanted):
    found = issues(ask("GET", f"{PATH}?metadata={quote(wanted)}"))
    assert found == [(["query", "metadata"], "dict_type")]


def test_history_has_every_entry_and_messages_only_the_messages(ask, museum):
    path = kept(ask, tools=[looking_into(museum)])
    history, messages = ask("GET", f"{path}/history"), ask("GET", f"{path}/messages")
    assert (history["object"], messages["object"]) == (
        "conversation.history",
        "conversation.messages",
    )
    assert kinds(history["entries"]) == ["message.input", "tool.execution", "message.output"]
    assert messages["messages"] == history["entries"][::2]
    assert all(entry["id"] and entry["created_at"] for entry in history["entries"])


def test_a_conversation_that_was_deleted_is_gone(ask):
    path = kept(ask)
    reply = ask.reply("DELETE", path)
    assert (reply.status, reply.body()) == (204, b"")
    for place in (path, f"{path}/history", f"{path}/messages"):
        assert ask("GET", place) == {"detail": "Conversation not found"}
    assert ask.status("DELETE", path) == 404
    assert ask.status("POST", path, {"inputs": "And?"}) == 404


def test_a_restart_is_a_new_conversation_from_an_entry_and_leaves_the_old_one(ask):
    path = kept(ask, metadata={"a": 1}, name="n")
    ask("POST", path, {"inputs": "And?"})
    entries = ask("GET", f"{path}/history")["entries"]
    body = {"from_entry_id": entries[1]["id"], "inputs": "Or?", "metadata": {"b": 2}}
    fresh = f"{PATH}/{ask('POST', f'{path}/restart', body)['conversation_id']}"
    assert fresh != path
    restarted = ask("GET", f"{fresh}/history")["entries"]
    assert restarted[:2] == entries[:2]
    assert [entry["content"] for entry in restarted[::2]] == [QUESTION, "Or?"]
    assert ask("GET", f"{path}/history")["entries"] == entries
    shown = ask("GET", fresh)
    assert (shown["metadata"], shown["name"]) == ({"b": 2}, "n")


def test_a_restart_needs_an_append_before_it_and_an_entry_that_is_there(ask):
    path = kept(ask)
    body = {"from_entry_id": ask("GET", f"{path}/history")["entries"][0]["id"]}
    assert ask.status("POST", f"{path}/restart", body) == 400
    ask("POST", path, {"inputs": "And?"})
    assert ask.status("POST", f"{path}/restart", body) == 200
    assert ask("POST", f"{path}/restart", {"from_entry_id": "msg_0"}) == {
        "detail": "Entry not found"
    }


def test_store_false_keeps_nothing(ask):
    assert ask.status("GET", kept(ask, store=False)) == 404
    assert ask("GET", PATH) == []
    path = kept(ask)
    ask("POST", path, {"inputs": "And?", "store": False})
    assert len(ask("GET", f"{path}/history")["entries"]) == 2


def test_conversations_and_agents_survive_in_a_file(tmp_path):
    place = str(tmp_path / "api.db")
    with KnowledgeApi(place) as api:
        agent_id = api.add_agent(tools=[ADD])
        path = kept(Asker(api), "Hello")
        history = Asker(api)("GET", f"{path}/history")
    with KnowledgeApi(place) as api:
        ask = Asker(api)
        assert ask("GET", f"{path}/history") == history
        reply = ask("POST", PATH, starting("add_up 1", agent_id=agent_id))
        assert kinds(reply["outputs"]) == ["function.call"]


def test_appends_from_many_threads_all_count(ask):
    path = kept(ask)
    threads = [
        threading.Thread(target=ask, args=("POST", path, {"inputs": f"{number}?"}))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ask("GET", f"{path}/messages")["messages"]) == 18


# agents


def test_an_agent_brings_its_model_its_tools_and_its_arguments(api, ask, museum):
    agent_id = api.add_agent(
        model="big", tools=[looking_into(museum)], completion_args={"max_tokens": 3}
    )
    reply = ask("POST", PATH, starting(agent_id=agent_id))
    assert text(reply) == "“Fees —"
    assert {(one["agent_id"], one["model"]) for one in reply["outputs"]} == {(agent_id, "big")}
    shown = ask("GET", f"{PATH}/{reply['conversation_id']}")
    assert (shown["agent_id"], "model" in shown) == (agent_id, False)


def test_an_agent_that_nobody_made_is_404(ask):
    assert ask("POST", PATH, starting(agent_id="ag_1")) == {"detail": "Agent not found"}


def test_an_agent_with_tools_that_the_api_refuses_is_not_made(api):
    with pytest.raises(InvalidArgumentError, match="tools="):
        api.add_agent(tools=[{"type": "magic"}])


# what does not fit


LEFT_OUT = object()
REFUSED = {
    "no inputs": ({"inputs": LEFT_OUT}, ["inputs"], "missing"),
    "unknown key": ({"stop": "x"}, ["stop"], "extra_forbidden"),
    "both": ({"agent_id": "ag_1", "model": "m"}, [], "value_error"),
    "neither": ({"model": None}, [], "value_error"),
    "inputs": ({"inputs": 5}, ["inputs"], "list_type"),
    "an entry": ({"inputs": ["x"]}, ["inputs", 0], "union_tag_invalid"),
    "an entry's type": ({"inputs": [{"type": "x"}]}, ["inputs", 0], "union_tag_invalid"),
    "an entry's key": (
        {"inputs": [{"role": "user", "content": "x", "k": 1}]},
        ["inputs", 0, "k"],
        "extra_forbidden",
    ),
    "a role": ({"inputs": [{"role": "system", "content": "x"}]}, ["inputs", 0, "role"], "enum"),
    "a content": (
        {"inputs": [{"role": "user", "content": ["x"]}]},
        ["inputs", 0, "content"],
        "string_type",
    ),
    "an argument": (
        {"completion_args": {"temperature": 1.2}},
        ["completion_args", "temperature"],
        "less_than_equal",
    ),
    "a tool choice": (
        {"completion_args": {"tool_choice": {"type": "function"}}},
        ["completion_args", "tool_choice"],
        "string_type",
    ),
    "an unknown argument": (
        {"completion_args": {"n": 2}},
        ["completion_args", "n"],
        "extra_forbidden",
    ),
    "a tool": ({"tools": [{"type": "magic"}]}, ["tools", 0], "union_tag_invalid"),
    "a tool that is none": ({"tools": ["x"]}, ["tools", 0], "union_tag_invalid"),
    "a tool's key": (
        {"tools": [{"type": "web_search", "k": 1}]},
        ["tools", 0, "k"],
        "extra_forbidden",
    ),
    "a function": (
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        ["tools", 0, "function", "parameters"],
        "missing",
    ),
    "no libraries": (
        {"tools": [{"type": "document_library", "library_ids": []}]},
        ["tools", 0, "library_ids"],
        "too_short",
    ),
    "a library id": (
        {"tools": [{"type": "document_library", "library_ids": ["x"]}]},
        ["tools", 0, "library_ids", 0],
        "uuid_parsing",
    ),
    "both lists": (
        {"tools": [{"type": "web_search", "tool_configuration": {"include": [1], "exclude": [1]}}]},
        ["tools", 0, "tool_configuration"],
        "value_error",
    ),
}


@pytest.mark.parametrize(("change", "place", "kind"), REFUSED.values(), ids=REFUSED)
def test_a_start_that_does_not_fit_is_422_and_keeps_nothing(ask, change, place, kind):
    body = {**starting(), **change}
    body = {name: value for name, value in body.items() if value is not LEFT_OUT}
    assert issues(ask("POST", PATH, body)) == [(["body", *place], kind)]
    assert ask("GET", PATH) == []


@pytest.mark.parametrize(
    ("change", "place", "kind"),
    [
        ({"tools": []}, ["tools"], "extra_forbidden"),
        ({"model": "m"}, ["model"], "extra_forbidden"),
        (
            {"tool_confirmations": [{"tool_call_id": "x", "confirmation": "no"}]},
            ["tool_confirmations", 0, "confirmation"],
            "enum",
        ),
        ({"store": None}, ["store"], "bool_type"),
    ],
)
def test_an_append_that_does_not_fit_is_422(ask, change, place, kind):
    found = issues(ask("POST", kept(ask), {"inputs": "And?", **change}))
    assert found == [(["body", *place], kind)]


def test_a_restart_needs_an_entry_and_takes_no_confirmations(ask):
    found = issues(ask("POST", f"{kept(ask)}/restart", {"tool_confirmations": []}))
    assert found == [
        (["body", "from_entry_id"], "missing"),
        (["body", "tool_confirmations"], "extra_forbidden"),
    ]


def test_a_library_that_is_not_there_is_404(ask):
    reply = ask.reply("POST", PATH, starting(tools=[looking_into(NOWHERE)]))
    assert reply.status == 404


@pytest.mark.parametrize("path", [f"{PATH}/conv_1", f"{PATH}/conv_1/restart"])
def test_a_conversation_that_is_not_there_is_404(ask, path):
    body = {"from_entry_id": "x"} if path.endswith("restart") else {"inputs": "And?"}
    assert ask("POST", path, body) == {"detail": "Conversation not found"}


def test_a_question_may_be_chunks_and_nothing_at_all(ask, museum):
    chunks = [{"type": "text", "text": QUESTION}]
    tools = [looking_into(museum)]
    whole = ask("POST", PATH, starting([{"role": "user", "content": chunks}], tools=tools))
    assert "12 euros" in text(whole)
    assert "No passage" in text(ask("POST", PATH, starting([], tools=tools)))
