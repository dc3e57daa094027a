"""The page for everyone: keyboard, screen reader, phone, light and dark."""

import pytest
from playwright.sync_api import expect

from .conftest import finished, send
from .upstream import Gate, Watched, citation, reply, text, thinking

LONG = (
    "A" * 200 + "\n\n| a | b |\n|---|---|\n| " + "c" * 150 + " | d |\n\n```\n" + "x = 1; " * 40
    + "\n```\n\n- `" + "y" * 150 + "`\n\nhttps://long.example/" + "z" * 150
)  # fmt: skip


def scheme(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def brightness(color):
    return sum(int(part) for part in color[4:-1].split(",")) / 3


def test_the_keyboard_alone_is_enough(serve, page):
    stall = Watched()
    relay = serve(reply(text("Fast."), citation("One")), reply(text("Slow"), stall))
    page.goto(relay.url)
    question = page.get_by_label("Your question")
    expect(question).to_be_focused()
    page.keyboard.type("How fast")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("is light?")
    expect(question).to_have_value("How fast\nis light?")
    page.keyboard.press("Enter")
    finished(page)
    expect(question).to_be_focused()
    assert relay.fake.requests[0].json["inputs"] == "How fast\nis light?"

    cited = page.get_by_role("button", name="Source 1: One")
    for _ in range(20):
        if cited.evaluate("node => node === document.activeElement"):
            break
        page.keyboard.press("Shift+Tab")
    expect(cited).to_be_focused()
    assert cited.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name="One")
    expect(panel.get_by_role("heading", name="One")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(cited).to_be_focused()

    send(page, "And now?")
    expect(page.locator(".answer").nth(1)).to_have_text("Slow")
    page.keyboard.press("Escape")
    expect(page.locator(".notice p").nth(1)).to_contain_text("Stopped.")
    assert stall.aborted.wait(30)


def test_an_empty_question_is_not_sent_nor_one_while_an_answer_comes(serve, page):
    gate = Gate()
    relay = serve(reply(text("Slow"), gate))
    page.goto(relay.url)
    send(page, "  \n ")
    send(page, "How fast?")
    expect(page.locator(".answer")).to_have_text("Slow")
    send(page, "Too early")
    expect(page.get_by_label("Your question")).to_have_value("Too early")
    expect(page.get_by_role("status")).to_contain_text("An answer is still coming.")
    gate.open()
    finished(page)
    assert len(relay.fake.requests) == 1


def test_the_focus_is_not_lost_where_buttons_come_and_go(serve, page):
    gate = Gate()
    page.goto(serve(reply(text("Slow"), gate)).url)
    page.get_by_label("Your question").fill("How fast?")
    page.get_by_role("button", name="Ask", exact=True).press("Enter")
    expect(page.get_by_role("button", name="Stop")).to_be_focused()
    gate.open()
    finished(page)
    expect(page.get_by_label("Your question")).to_be_focused()


def test_the_focus_stays_at_a_citation_while_the_answer_grows(serve, asked):
    gate = Gate()
    page = asked(serve(reply(text("Fast"), citation("One"), gate, text(" and more."))))
    cited = page.get_by_role("button", name="Source 1: One")
    cited.focus()
    gate.open()
    finished(page)
    expect(page.locator(".answer")).to_have_text("Fast1 and more.")
    expect(cited).to_be_focused()


def test_a_screen_reader_hears_of_the_beginning_and_the_end_but_not_of_every_word(serve, page):
    gate = Gate()
    page.goto(serve(reply(text("Slow"), gate, text(" words"), citation("One"))).url)
    page.evaluate(
        """() => {
          window.heard = [];
          const note = () => heard.push(document.getElementById("status").textContent);
          new MutationObserver(note).observe(document.getElementById("status"), {childList: true});
        }"""
    )
    send(page, "How fast?")
    expect(page.locator(".answer")).to_have_text("Slow")
    gate.open()
    finished(page)
    assert page.evaluate("heard") == [
        "The question is sent. The answer is on its way.",
        "The answer is complete, with 1 source.",
    ]
    live = "[aria-live], [role=status], [role=alert], [role=log], output"
    assert page.locator(live).evaluate_all("all => all.map(one => one.id)") == ["status"]


@pytest.mark.parametrize("width", [320, 360])
def test_nothing_is_wider_than_a_phone(serve, page, width):
    page.set_viewport_size({"width": width, "height": 700})
    title, address = "T" * 120, "https://" + "u" * 60 + ".example/"
    page.goto(serve(reply(thinking("t" * 200), text(LONG), citation(title, address))).url)
    send(page, "Q" * 200)
    finished(page)
    page.locator("summary").click()
    page.locator("sup button").click()
    wide = """() => [...document.querySelectorAll("body *")]
      .filter((one) => !one.closest("pre, .unseen, template") && one.checkVisibility())
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      .filter((one) => !one.closest(".title"))
      .map((one) => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(wide) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for button in page.get_by_role("button").all():
        box = button.bounding_box()
        assert box is None or (box["x"] >= 0 and box["x"] + box["width"] <= width)


def test_a_new_question_stands_at_the_top_with_room_for_its_answer(serve, asked):
    page = asked(serve(reply(text("Long.\n\n" * 60)), reply(text("Short."))))
    finished(page)
    send(page, "And shortly?")
    finished(page)
    expect(page.get_by_role("heading", name="And shortly?")).to_be_in_viewport()
    expect(page.locator(".answer").nth(1)).to_be_in_viewport()


def test_the_page_is_dark_where_the_reader_wants_it_dark(serve, page):
    page.goto(serve().url)
    page.emulate_media(color_scheme="light")
    assert brightness(scheme(page)) > 230
    page.emulate_media(color_scheme="dark")
    assert brightness(scheme(page)) < 40


@pytest.mark.parametrize("colors", ["light", "dark"])
def test_the_rules_of_accessibility_are_kept(serve, page, modules, colors):
    page.emulate_media(color_scheme=colors)
    error = {"type": "conversation.response.error", "message": "out of credit"}
    code = text("Fast.\n\n```\n" + "x = 1; " * 60 + "\n```\n\n- one\n- two `x`")
    relay = serve(
        reply(thinking("Hm."), code, citation("One")),
        reply(text("Half"), error),
        token="a-long-token",
    )
    page.goto(relay.url)
    script = (modules / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")

    def violations():
        page.evaluate(script)
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]

    assert violations() == []
    send(page, "How fast?")
    expect(page.get_by_role("dialog", name="Token needed")).to_be_visible()
    assert violations() == []
    page.keyboard.type("a-long-token")
    page.keyboard.press("Enter")
    finished(page)
    page.locator("summary").click()
    page.locator("sup button").click()
    send(page, "And now?")
    expect(page.locator(".notice.bad")).to_be_visible()
    assert violations() == []
