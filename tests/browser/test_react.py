"""A React component for R2R's streams, as its guide prints it, reads `/api/rag`.

`react/RAGComponent.jsx` is the printed text. It leaves two places open, `UI implementation` and
`Display messages and citations`; the test fills these, and nothing else, and renders it.
"""

import contextlib

import pytest
from playwright.sync_api import expect

from .conftest import HERE, run
from .serving import relay_of, scripted, served, with_files
from .upstream import Gate, chat_reply, citation, content_of, thinking

PAGE = b"""<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<div id="root"></div><script src="/react.js"></script>"""
PRINTED = (HERE / "react" / "RAGComponent.jsx").read_text(encoding="utf-8")
OPEN = {
    "{/* UI implementation */}": """
      <button onClick={() => handleSubmit("How fast is light?")}>Ask</button>
      <ol id="citations">{citations.map((one) =>
        <li key={one.raw_index}>{one.source_title}</li>)}</ol>
    """,
    "{/* Display messages and citations */}": """
      {messages.map((one, at) => <p key={at} className={one.role}>{one.content}</p>)}
      <ol id="final">{messages.flatMap((one) => one.citations).map((one) =>
        <li key={one.id}>{one.index} {one.source_title}</li>)}</ol>
    """,
}
RENDERED = """
import { createRoot } from "react-dom/client";
createRoot(document.getElementById("root")).render(<RAGComponent />);
"""


@pytest.fixture(scope="module")
def bundle(modules):
    """The component, its open places filled, as one script."""
    source = PRINTED
    for place, filling in OPEN.items():
        assert source.count(place) == 1
        source = source.replace(place, filling)
    (modules / "main.jsx").write_text(source + RENDERED, encoding="utf-8")
    options = ["--bundle", "--jsx=automatic", "--define:process.env.NODE_ENV='production'"]
    command = ["node_modules/.bin/esbuild", "main.jsx", "--outfile=out.js", *options]
    run(command, modules)
    return (modules / "out.js").read_bytes()


@pytest.fixture
def component(page, bundle):
    """`component(reply)`: the page with the component in front of a relay; and its errors."""

    def opened(*replies, **options):
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        fake = scripted(*replies)
        files = {
            "/react": ("text/html", PAGE),
            "/react.js": ("text/javascript; charset=utf-8", bundle),
        }
        relay = stack.enter_context(served(fake, with_files(relay_of(fake, **options), files)))
        page.goto(relay.url + "react")
        page.get_by_role("button", name="Ask").click()
        return page

    errors = []
    with contextlib.ExitStack() as stack:
        yield opened
    assert errors == []


def test_the_printed_component_shows_an_answer_as_it_comes_and_its_citations(component):
    gate = Gate()
    before = [content_of(thinking("Hm.")), "Light “is” ", content_of(citation("One 😀"))]
    page = component(chat_reply(*before, gate, "fast.", content_of(citation("Two"))))
    expect(page.locator(".typing-indicator")).to_have_text("Light “is” ")
    expect(page.locator("#citations li")).to_have_text(["One 😀"])
    gate.open()
    expect(page.locator("p.assistant")).to_have_text("Light “is” fast.")
    expect(page.locator("#citations li")).to_have_text(["One 😀", "Two"])
    expect(page.locator("#final li")).to_have_text(["1 One 😀", "2 Two"])
    expect(page.locator(".typing-indicator")).to_be_hidden()


def test_the_printed_component_passes_over_the_comments_that_keep_the_line_open(component):
    gate = Gate()
    page = component(chat_reply("Slow", gate, " but sure."), heartbeat=0.01)
    expect(page.locator(".typing-indicator")).to_have_text("Slow")
    gate.open()
    expect(page.locator("p.assistant")).to_have_text("Slow but sure.")


def test_the_printed_component_reads_a_fast_answer_of_many_words(component):
    words = [f"word{number} " for number in range(300)]
    page = component(chat_reply(*words))
    expect(page.locator("p.assistant")).to_have_text("".join(words))
