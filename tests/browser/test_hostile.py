"""An answer, a title or an address never becomes a script, and nothing goes to another host."""

from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

from .conftest import finished, send
from .upstream import citation, reply, text, thinking, tool_run

HTML = "<script>hacked = 1</script><img src=x onerror='hacked = 1'><b>x</b>"
LINKS = (
    "[a](javascript:hacked=1) [b](data:text/html,<script>hacked=1</script>) "
    "[c](JaVaScRiPt:hacked=1) [d](vbscript:x) [e](//evil.example) [f](file:///etc/passwd) "
    '[g](https://ok.example/"onclick="hacked=1) ![h](https://evil.example/pixel.png)'
)
ADDRESSES = [
    "javascript:hacked=1",
    " java\nscript:hacked=1",
    "data:text/html,<script>hacked=1</script>",
    "file:///etc/passwd",
    "//evil.example",
    "/healthz",
]


def hostile():
    return reply(
        thinking(HTML),
        *tool_run(HTML, HTML, HTML),
        text(f"{HTML}\n\n{LINKS}\n\n- {HTML}\n\n```{HTML}\n{HTML}\n```\n"),
        citation(HTML, ADDRESSES[0]),
    )


def test_hostile_text_is_shown_as_text_and_nothing_of_it_runs(serve, asked):
    page = asked(serve(hostile()), HTML)
    finished(page)
    page.locator("summary").click()
    page.locator("sup button").click()
    shown = page.locator("body").inner_text()
    assert shown.count("onerror='hacked = 1'") >= 8
    assert page.evaluate("typeof hacked") == "undefined"
    assert (
        page.locator("body").locator("script, img, b, iframe, style, [onclick], [onerror]").count()
        == 0
    )
    protocols = "all => all.map(one => one.protocol)"
    assert set(page.locator("a[href]").evaluate_all(protocols)) == {"https:"}


@pytest.mark.parametrize("address", ADDRESSES)
def test_only_addresses_of_the_web_become_links(serve, asked, address):
    page = asked(serve(reply(text("Fast."), citation("Title", address))))
    finished(page)
    page.locator("sup button").click()
    panel = page.get_by_role("dialog", name="Title")
    expect(panel).to_be_visible()
    expect(panel.get_by_role("link")).to_be_hidden()


def test_a_link_of_an_earlier_source_does_not_stay_for_one_without(serve, asked):
    cited = [citation("One", "https://one.example/"), citation("Two", "javascript:hacked=1")]
    page = asked(serve(reply(text("Fast."), *cited)))
    finished(page)
    page.locator("sup button").nth(0).click()
    expect(page.get_by_role("dialog").get_by_role("link")).to_be_visible()
    page.locator("sup button").nth(1).click()
    expect(page.get_by_role("dialog").get_by_role("link")).to_be_hidden()


def test_a_strict_content_security_policy_is_in_force(serve, page):
    relay = serve()
    with urlopen(relay.url) as response:
        rules = response.headers["Content-Security-Policy"]
    assert rules.split("; ") == [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    page.goto(relay.url)
    inserted = """() => new Promise((resolve) => {
      const refused = (event) => resolve(event.effectiveDirective);
      document.addEventListener("securitypolicyviolation", refused);
      const script = document.createElement("script");
      script.textContent = "hacked = 1";
      document.body.append(script);
    })"""
    assert page.evaluate(inserted) == "script-src-elem"
    assert page.evaluate("typeof hacked") == "undefined"


def test_the_page_asks_nothing_but_its_own_server(serve, context, page):
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    relay = serve(reply(text("Fast."), citation("One", "https://one.example/")))
    page.goto(relay.url)
    send(page, "How fast is light?")
    finished(page)
    page.locator("sup button").click()
    page.wait_for_load_state("networkidle")
    paths = [urlsplit(url).path for url in asked if not url.startswith("data:")]
    assert paths == ["/", "/page.css", "/page.js", "/api/rag"]


def test_no_text_makes_drawing_slow(serve, asked):
    openers = "**a *b `c [d](e " * 6000
    page = asked(
        serve(reply(text(openers), text("\n\n" + "*" * 50000), text("\n\n" + "`" * 50000)))
    )
    finished(page)
    expect(page.locator(".answer > *")).to_have_count(3)
