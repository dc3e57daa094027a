"""How an answer is shown, and R2R's shapes of its events."""

import json

import pytest

from mistral_knowledge.answers.events import CitationEvent, SearchResultsEvent
from mistral_knowledge.errors import InvalidArgumentError

from .wire import good, stream_of

HOSTILE = "a]( javascript:x) <script>`_*"


def document(name, query="sig=1"):
    return [{"type": "document_url", "document_url": f"https://f/x?{query}", "document_name": name}]


def page(title, url):
    return [{"type": "tool_reference", "tool": "web_search", "title": title, "url": url}]


def answer(*contents):
    return stream_of(good(*contents)).get_answer()


def test_plain_has_numbers_in_the_text_and_numbered_sources_under_it():
    whole = answer(
        "One", document("a.pdf"), ", two", page("W", "https://w/?q=1"), ".", document("a.pdf")
    )
    assert whole.render() == "One[1], two[2].[1]\n\n[1] a.pdf\n[2] W <https://w/?q=1>"


def test_markdown_links_web_pages_only_and_escapes_what_the_web_wrote():
    whole = answer("x", page(HOSTILE, "javascript:alert(1)"), page("W", "https://w/?q=1"))
    assert whole.render("markdown") == (
        "x[1][2]\n\n1. a\\]( javascript:x) \\<script\\>\\`\\_\\*\n2. [W](<https://w/?q=1>)"
    )


@pytest.mark.parametrize("style", ["plain", "markdown"])
def test_the_signed_url_of_a_document_is_never_rendered(style):
    assert "sig" not in answer("x", document("a.pdf", "sig=SECRET")).render(style)


def test_an_answer_without_citations_is_its_text():
    assert answer("x").render() == "x"


def test_another_style_is_refused():
    with pytest.raises(InvalidArgumentError, match="'plain' or 'markdown'"):
        answer("x").render("html")


def test_a_citation_has_both_key_sets_of_r2r():
    events = list(stream_of(good("Hi", document("a.pdf"), document("a.pdf"))))
    first, second = (event.data for event in events if isinstance(event, CitationEvent))
    assert {
        key: first[key] for key in ("object", "raw_index", "index", "start_index", "end_index")
    } == {
        "object": "citation",
        "raw_index": 1,
        "index": 1,
        "start_index": 2,
        "end_index": 2,
    }
    assert (first.source_type, first.source_title, first.document_id) == ("chunk", "a.pdf", None)
    assert (first.is_new, first.span, second.is_new, second.payload) == (
        True,
        {"start": 2, "end": 2},
        False,
        None,
    )


def test_the_final_answer_groups_citations_by_source_with_their_spans():
    events = list(stream_of(good("Hi", document("a.pdf"), "!", document("a.pdf"))))
    data = events[-1].data
    assert (data.id, data.object, data.generated_answer) == ("msg_final", "rag.final_answer", "Hi!")
    spans = [citation.spans for citation in data.citations]
    assert spans == [[{"start": 2, "end": 2}, {"start": 3, "end": 3}]]


def test_search_results_tell_documents_from_web_pages():
    events = list(stream_of(good("x", document("a.pdf") + page("W", "https://w"))))
    found = [event.data.data for event in events if isinstance(event, SearchResultsEvent)]
    titles = [(one.chunk_search_results, one.web_search_results) for one in found]
    assert [[[item.title for item in group] for group in pair] for pair in titles] == [
        [["a.pdf"], []],
        [[], ["W"]],
    ]


def test_message_data_is_reached_by_attributes_and_is_json():
    event = next(stream_of(good("Hi")))
    assert event.data.delta.content[0].payload.value == "Hi"
    assert json.loads(json.dumps(event.data))["delta"]["content"][0]["payload"]["value"] == "Hi"
    assert event.event == "message"


def test_log_fields_have_identifiers_and_counts_only():
    whole = answer("private words", document("private.pdf"))
    assert whole.log_fields() == {
        "answer_id": "cmpl-1",
        "request_id": "req-1",
        "model": "m",
        "finish_reason": "stop",
        "citations": 1,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "connector_tokens": None,
    }
    assert "private" not in repr(whole.citations[0].log_fields())


def test_utf16_offsets_count_as_javascript_does():
    whole = answer("a\U0001f600b\u00e4")
    assert [whole.utf16_offset(offset) for offset in range(5)] == [0, 1, 3, 4, 5]
