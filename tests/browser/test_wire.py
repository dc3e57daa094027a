"""What the page makes of the bytes of a stream: cut anywhere, strange, or ended too soon."""

import json

import pytest
from playwright.sync_api import expect

EVENTS = {"Content-Type": "text/event-stream; charset=utf-8"}


def message(words):
    content = [{"type": "text", "payload": {"value": words, "annotations": []}}]
    return {"event": "message", "data": {"delta": {"content": content}}}


def final(words, **fields):
    return {"event": "final_answer", "data": {"generated_answer": words, "citations": [], **fields}}


def line(envelope):
    return f"data: {json.dumps(envelope, ensure_ascii=False)}\n\n"


def respond(pieces, status="200 OK", headers=EVENTS):
    def answer(start_response):
        start_response(status, list(headers.items()))
        return iter(pieces)

    return answer


def answer(page):
    return page.locator(".answer")


def notice(page):
    return page.locator(".notice p")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_bytes_may_be_cut_anywhere(serve_raw, asked, end):
    body = ": a comment\n\n" + line(message("naïve 😀 ")) + ": \n\nid: 7\nretry: 9\n\n"
    body += line(message("“日本”")) + line({"event": "from tomorrow", "data": None})
    body += line(final("naïve 😀 “日本”"))
    sent = ("\ufeff" + body.replace("\n", end)).encode("utf-8")
    page = asked(serve_raw(respond([sent[at : at + 1] for at in range(len(sent))])))
    expect(page.locator(".sources")).to_be_hidden()
    expect(page.locator(".progress")).to_be_hidden()
    expect(answer(page)).to_have_text("naïve 😀 “日本”")
    expect(notice(page)).to_be_hidden()


def test_data_of_several_lines_is_one_event(serve_raw, asked):
    body = 'data:{"event": "final_answer",\ndata: "data": {"generated_answer": "Both."}}\n\n'
    page = asked(serve_raw(respond([body.encode()])))
    expect(answer(page)).to_have_text("Both.")


def test_the_final_answer_alone_is_enough_with_its_grouped_citations(serve_raw, asked):
    cited = {
        "id": "a",
        "source_title": "One",
        "spans": [{"start": 0, "end": 1}, {"start": 2, "end": 4}],
    }
    other = {"id": "b", "source_title": "Two", "spans": [{"start": 4, "end": 4}], "payload": None}
    found = {"chunk_search_results": [{"id": "u", "text": "The words that were found."}]}
    body = line({"event": "search_results", "data": {"data": found}})
    body += line(final("😀 ab", citations=[{**cited, "source_id": "u"}, other]))
    page = asked(serve_raw(respond([body.encode()])))
    expect(answer(page)).to_have_text("😀1 ab12")
    page.get_by_role("button", name="Source 1: One").first.click()
    panel = page.get_by_role("dialog", name="One")
    expect(panel.locator("blockquote")).to_have_text("The words that were found.")
    assert panel.get_by_role("listitem").all_inner_texts() == ["😀", "ab"]


BROKEN = {
    "just stops": ([line(message("Half")).encode()], "The connection ended before"),
    "stops in an event": (
        [(line(message("Half")) + line(final("x"))[:-1]).encode()],
        "ended before",
    ),
    "is no JSON": ([line(message("Half")).encode(), b"data: {oops\n\n"], "cannot read"),
    "is no envelope": ([line(message("Half")).encode(), b"data: [1]\n\n"], "cannot read"),
    "has odd data": ([line(message("Half")).encode(), b'data: {"event": "error"}\n\n'], "failed"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_a_stream_without_a_final_answer_is_shown_as_broken(serve_raw, asked, name):
    pieces, words = BROKEN[name]
    page = asked(serve_raw(respond(pieces)))
    expect(notice(page)).to_contain_text(words)
    expect(notice(page)).to_contain_text("only a part of the answer")
    expect(page.locator(".notice")).to_have_class("notice bad")
    expect(answer(page)).to_have_text("Half")


def test_a_connection_that_breaks_is_shown_as_broken(serve_raw, asked):
    headers = {**EVENTS, "Content-Length": "1000"}
    page = asked(serve_raw(respond([line(message("Half")).encode()], headers=headers)))
    expect(notice(page)).to_contain_text("The connection ended before the answer was whole.")


def test_an_empty_body_is_no_answer(serve_raw, asked):
    page = asked(serve_raw(respond([])))
    expect(notice(page)).to_have_text("The connection ended before the answer was whole.")


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (
            "413 Too Large",
            b'{"message": "at most 9 bytes"}',
            "too long for this server.\nThe server",
        ),
        ("422 No", b'{"detail": "?"}', "The server refuses the question."),
        ("502 Bad Gateway", b"<html>", "The server failed."),
        ("200 OK", b"<html>", "cannot read"),
    ],
)
def test_a_reply_that_is_no_stream_is_told_in_plain_words(serve_raw, asked, status, body, words):
    page = asked(serve_raw(respond([body], status, {"Content-Type": "text/html"})))
    expect(notice(page)).to_contain_text(words.split("\n", maxsplit=1)[0])
    expect(answer(page)).to_have_text("")


def test_the_end_of_a_length_limit_is_said(serve_raw, asked):
    body = line(final("It goes on and", metadata={"truncated": True}))
    page = asked(serve_raw(respond([body.encode()])))
    expect(notice(page)).to_contain_text("reached its greatest length")


def test_what_comes_behind_the_final_answer_changes_nothing(serve_raw, asked):
    late = line(message(" More.")) + line({"event": "error", "data": {"error": {"message": "?"}}})
    page = asked(serve_raw(respond([(line(final("Whole.")) + late).encode()])))
    expect(answer(page)).to_have_text("Whole.")
    page.wait_for_load_state("networkidle")
    expect(answer(page)).to_have_text("Whole.")
    expect(notice(page)).to_be_hidden()
