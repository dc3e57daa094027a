"""An answer on the page: it grows, has sources, can be stopped, fails in plain words."""

import re

import pytest
from playwright.sync_api import expect

from mistral_knowledge.transports.fake import Cut, Scripted

from .conftest import finished, send
from .upstream import PATIENCE, Gate, Watched, citation, reply, text, thinking, tool_run


def answer(page, place=0):
    return page.locator(".answer").nth(place)


def notice(page, place=0):
    return page.locator(".turn").nth(place).locator(".notice p")


def whole(page, question="Who asks?", place=0):
    """Another question is answered: the page works on."""
    send(page, question)
    finished(page)
    expect(notice(page, place)).to_be_hidden()


def test_an_answer_grows_while_it_comes(serve, asked):
    gates = [Gate(), Gate()]
    steps = [text("Light is"), gates[0], text(" very"), gates[1], text(" fast.")]
    page = asked(serve(reply(*steps)))
    expect(answer(page)).to_have_text("Light is")
    expect(page.locator(".progress")).to_be_visible()
    gates[0].open()
    expect(answer(page)).to_have_text("Light is very")
    gates[1].open()
    expect(answer(page)).to_have_text("Light is very fast.")
    expect(page.locator(".progress")).to_be_hidden()
    expect(page.get_by_role("heading", name="How fast is light?")).to_be_visible()


def test_what_is_drawn_already_stays_the_same_node_while_the_answer_grows(serve, asked):
    gate = Gate()
    page = asked(serve(reply(text("First part.\n\nSecond"), gate, text(" part."))))
    first = answer(page).get_by_text("First part.").element_handle()
    expect(answer(page).locator("p").nth(1)).to_have_text("Second")
    gate.open()
    expect(answer(page).locator("p").nth(1)).to_have_text("Second part.")
    assert first.evaluate("node => node.isConnected")


def test_thinking_and_tool_calls_are_folded_away(serve, asked):
    tool = tool_run("document_library", '{"query": "light"}', "two passages")
    page = asked(serve(reply(thinking("I look it up."), *tool, text("Fast."))))
    finished(page)
    expect(page.locator("summary")).to_have_text("Thinking · Document search")
    for words in ("I look it up.", '{"query": "light"}', "two passages"):
        expect(page.locator(".steps").get_by_text(words)).to_be_hidden()
    page.locator("summary").click()
    for words in ("I look it up.", '{"query": "light"}', "two passages"):
        expect(page.locator(".steps").get_by_text(words)).to_be_visible()
    expect(answer(page)).to_have_text("Fast.")


def test_citations_open_their_source(serve, asked):
    first = citation("Light.pdf", tool="document_library")
    second = citation("Constants", "https://physics.example/c?x=1")
    page = asked(serve(reply(text("Fast. "), first, text("Exact. "), second, first)))
    finished(page)
    expect(answer(page)).to_have_text("Fast.1 Exact.12 ")
    assert page.locator("sup").all_inner_texts() == ["1", "1", "2"]

    page.get_by_role("button", name="Source 2: Constants").click()
    panel = page.get_by_role("dialog", name="Constants")
    expect(panel).to_contain_text("2 · Web page")
    opened = panel.get_by_role("link", name="Open physics.example")
    expect(opened).to_have_attribute("href", "https://physics.example/c?x=1")
    expect(opened).to_have_attribute("rel", "noopener noreferrer")
    expect(opened).to_have_attribute("target", "_blank")

    page.locator("sup button").first.click()
    panel = page.get_by_role("dialog", name="Light.pdf")
    expect(panel).to_contain_text("1 · Document")
    expect(panel.get_by_role("link")).to_be_hidden()
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()


def test_the_sources_are_listed_under_the_answer_and_open_too(serve, asked):
    page = asked(serve(reply(text("A"), citation("One"), text("B"), citation("Two"))))
    finished(page)
    sources = page.get_by_role("region", name="Sources").get_by_role("button")
    assert sources.all_inner_texts() == ["1\nOne", "2\nTwo"]
    sources.nth(1).click()
    expect(page.get_by_role("dialog", name="Two")).to_be_visible()


def test_a_citation_stands_at_its_words_behind_characters_outside_the_basic_plane(serve, asked):
    steps = [
        text("😀😀 is **so**"),
        citation("One"),
        text(" and 𝄞"),
        citation("Two"),
        text(" ends"),
    ]
    page = asked(serve(reply(*steps)))
    finished(page)
    expect(answer(page)).to_have_text("😀😀 is so1 and 𝄞2 ends")


def test_a_small_part_of_markdown_is_shown_as_what_it_means(serve, asked):
    source = (
        "# Title\n\nSome **bold**, *soft* and `code`.\n- one\n- two\n  - inner\n\n"
        "3. three\n\n```js\nlet a = **b**;\n```\n[here](https://a.example/x) 2*3*4 a_b_c"
    )
    page = asked(serve(reply(text(source))))
    finished(page)
    assert answer(page).locator("> *").evaluate_all("all => all.map(one => one.outerHTML)") == [
        '<h3 dir="auto">Title</h3>',
        '<p dir="auto">Some <strong>bold</strong>, <em>soft</em> and <code>code</code>.</p>',
        '<ul><li dir="auto">one</li><li dir="auto">two</li></ul>',
        '<ul class="inner"><li dir="auto">inner</li></ul>',
        '<ol><li dir="auto" value="3">three</li></ol>',
        '<div><pre tabindex="0"><code>let a = **b**;</code></pre></div>',
        '<p dir="auto"><a href="https://a.example/x" target="_blank" rel="noopener noreferrer">'
        "here</a> 2*3*4 a_b_c</p>",
    ]


def test_stop_aborts_the_answer_upstream(serve, asked):
    stall = Watched()
    relay = serve(reply(text("Light is"), stall), reply(text("Still here.")))
    page = asked(relay)
    expect(answer(page)).to_have_text("Light is")
    page.get_by_role("button", name="Stop").click()
    expect(notice(page)).to_have_text("Stopped.\nWhat is shown is only a part of the answer.")
    assert stall.aborted.wait(PATIENCE)
    expect(answer(page)).to_have_text("Light is")
    whole(page, place=1)


def test_leaving_the_page_aborts_the_answer_upstream(serve, asked):
    stall = Watched()
    page = asked(serve(reply(text("Light is"), stall)))
    expect(answer(page)).to_have_text("Light is")
    page.close()
    assert stall.aborted.wait(PATIENCE)


def test_an_error_in_the_stream_is_shown_with_its_words(serve, asked):
    error = {"type": "conversation.response.error", "message": "out of credit", "code": 1}
    page = asked(serve(reply(text("Light is"), error), reply(text("Fine."))))
    expect(notice(page)).to_contain_text("The answer failed.")
    expect(notice(page)).to_contain_text("out of credit")
    expect(notice(page)).to_contain_text("only a part of the answer")
    expect(answer(page)).to_have_text("Light is")
    whole(page, place=1)


@pytest.mark.parametrize("end", [[], [Cut()]], ids=["just ends", "is cut"])
def test_an_answer_that_breaks_off_upstream_is_never_shown_as_whole(serve, asked, end):
    page = asked(serve(reply(text("Light is"), *end, whole=False)))
    expect(notice(page)).to_contain_text("The answer failed.")
    expect(notice(page)).to_contain_text("only a part of the answer")


@pytest.mark.parametrize(
    ("status", "words"),
    [(429, "The server is busy. Wait a moment, then ask again."), (500, "The server failed.")],
)
def test_a_refusal_is_told_in_plain_words(serve, asked, status, words):
    page = asked(serve(Scripted(status, json={"message": "told so"}), reply(text("Fine."))))
    expect(notice(page)).to_contain_text(words)
    expect(notice(page)).to_contain_text("told so")
    expect(notice(page)).not_to_contain_text("only a part of the answer")
    whole(page, place=1)


def test_a_server_that_is_gone_is_told_in_plain_words(serve, page):
    relay = serve()
    page.goto(relay.url)
    relay.close()
    send(page, "Anyone there?")
    expect(notice(page)).to_have_text("The server cannot be reached. Is it running?")


def test_ask_again_asks_the_same_question(serve, asked):
    relay = serve(Scripted(500, json={"message": "down"}), reply(text("Up again.")))
    page = asked(relay, "Are you\nthere?")
    page.get_by_role("button", name="Ask again").click()
    expect(answer(page, 1)).to_have_text("Up again.")
    assert [asked.json["inputs"] for asked in relay.fake.requests] == ["Are you\nthere?"] * 2


def test_questions_go_on_in_the_same_conversation_until_a_new_one_is_begun(serve, asked):
    relay = serve(
        reply(text("One.")),
        reply(text("Two."), conversation_id="conv_2"),
        Scripted(500, json={"message": "down"}),
        reply(text("Three.")),
        reply(text("Four.")),
    )
    page = asked(relay, "First?")
    for place, question in enumerate(["Second?", "Third?", "Fourth?"], 1):
        finished(page)
        send(page, question)
        expect(page.locator(".turn")).to_have_count(place + 1)
    finished(page)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.get_by_label("Your question")).to_be_focused()
    send(page, "Anew?")
    expect(answer(page)).to_have_text("Four.")
    paths = [asked.path.rpartition("/")[2] for asked in relay.fake.requests]
    assert paths == ["conversations", "conv_1", "conv_2", "conv_2", "conversations"]


def test_a_new_conversation_ends_the_answer_that_is_under_way(serve, asked):
    stall = Watched()
    page = asked(serve(reply(text("Light is"), stall), reply(text("Fine."))))
    expect(answer(page)).to_have_text("Light is")
    page.get_by_role("button", name="New conversation").click()
    assert stall.aborted.wait(PATIENCE)
    whole(page)
    expect(page.locator(".turn")).to_have_count(1)


def test_the_web_is_searched_if_asked_for(serve, page):
    relay = serve(reply(text("Fine.")))
    page.goto(relay.url)
    page.get_by_label("Search the web too").check()
    send(page, "What is new?")
    finished(page)
    assert "web_search" in [tool["type"] for tool in relay.fake.requests[0].json["tools"]]


def test_the_token_is_asked_for_and_kept_in_memory_only(serve, asked):
    relay = serve(reply(text("Come in.")), reply(text("Again.")), token="right-token")
    page = asked(relay)
    login = page.get_by_role("dialog", name="Token needed")
    expect(login.get_by_label("Token")).to_be_focused()
    expect(login.get_by_label("Token")).to_have_attribute("type", "password")
    page.keyboard.type("wrong-token")
    page.keyboard.press("Enter")
    expect(login).to_contain_text("The server does not accept this token.")
    page.keyboard.type("two words")
    page.keyboard.press("Enter")
    expect(login).to_contain_text("without blanks")
    login.get_by_label("Token").fill("right-token")
    page.keyboard.press("Enter")
    expect(answer(page)).to_have_text("Come in.")
    expect(login).to_be_hidden()
    whole(page, place=1)
    kept = "[document.cookie, JSON.stringify({...localStorage, ...sessionStorage})]"
    assert page.evaluate(kept) == ["", "{}"]
    assert "right-token" not in page.content() + page.url


def test_whoever_gives_no_token_is_told_that_it_is_needed(serve, asked):
    page = asked(serve(token="right-token"))
    page.get_by_role("button", name="Cancel").click()
    expect(notice(page)).to_have_text(re.compile("This server asks for a token."))
