"""Bytes to events: framing."""

import json
import sys
import types

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge.answers import sse
from mistral_knowledge.answers.sse import Framer, server_events
from mistral_knowledge.errors import ConfigurationError, MalformedEventError

from .wire import cut_at

LINE_ENDS = st.sampled_from([b"\n", b"\r", b"\r\n"])
VALUES = st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=("Cs",)))


def events(*pieces):
    return list(server_events(pieces))


def data(*pieces):
    return [data for _, data in events(*pieces)]


def test_an_event_has_a_name_and_data():
    assert events(b"event: message.delta\ndata: {}\n\n") == [("message.delta", "{}")]


def test_an_event_without_a_name_is_a_message():
    assert events(b"data: {}\n\n") == [("message", "{}")]


def test_data_on_several_lines_is_joined_by_line_feeds():
    assert data(b"data: a\ndata: b\n\n") == ["a\nb"]


def test_one_blank_after_the_colon_is_no_part_of_the_value():
    assert data(b"data:a\n\ndata:  b\n\n") == ["a", " b"]


@pytest.mark.parametrize("blank", [b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r\n", b"\r\n\n", b"\n\r"])
def test_every_kind_of_blank_line_ends_an_event(blank):
    assert data(b"data: 1" + blank + b"data: 2" + blank + b"data: 3" + blank) == ["1", "2", "3"]


def test_only_cr_and_lf_end_a_line():
    text = json.dumps("a\u2028b\u0085c\u2029d\x0b\x0c\x1c", ensure_ascii=False)
    assert data(f"data: {text}\n\n".encode()) == [text]


def test_a_bom_at_the_start_is_dropped_wherever_it_is_cut():
    body = b"\xef\xbb\xbfdata: 1\n\n"
    assert [data(body[:n], body[n:]) for n in range(len(body))] == [["1"]] * len(body)


def test_a_bom_elsewhere_is_part_of_the_text():
    assert data(b"data: 1\n\n", b"data: \xef\xbb\xbf2\n\n") == ["1", "\ufeff2"]


def test_comments_pings_ids_retries_and_empty_data_are_no_events():
    assert events(b": ping\n\n", b"id: 7\nretry: 3\n\n", b"event: x\n\n", b"data:\n\n") == []


def test_an_event_without_its_blank_line_is_no_event():
    assert data(b"data: 1\n\ndata: 2\n") == ["1"]


@pytest.mark.parametrize(
    "tail", [b"data: [DONE]", b"data:[DONE]", b"data: [DONE]\n", b"data: [DONE]\r"]
)
def test_an_unfinished_done_counts(tail):
    assert data(b"data: 1\n\n", tail) == ["1", "[DONE]"]


def test_an_unfinished_done_with_something_around_it_does_not_count():
    assert data(b"data: 1\n\n", b"event: x\ndata: [DONE]") == ["1"]


def test_bytes_that_are_no_utf8_are_a_malformed_event():
    with pytest.raises(MalformedEventError):
        events(b"data: \xff\xfe\n\n")


def test_an_event_without_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 1000)
    with pytest.raises(MalformedEventError, match="larger than"):
        events(*[b"x" * 100] * 11)


def test_an_event_of_very_many_lines_is_refused_before_it_costs_their_square():
    assert data(b"data: x\n" * sse.MAX_EVENT_LINES + b"\n") == ["\n".join(["x"] * 4096)]
    with pytest.raises(MalformedEventError, match="4096 lines"):
        events(b"data: x\n" * (sse.MAX_EVENT_LINES + 1) + b"\n")


def test_nothing_at_all_is_no_event():
    assert events() == events(b"", b"") == []


@given(st.lists(VALUES, max_size=6), LINE_ENDS, st.lists(st.integers(0, 10_000), max_size=12))
def test_any_split_of_the_same_bytes_gives_the_same_events(values, end, places):
    body = b"".join(b"data: " + value.encode("utf-8") + end + end for value in values)
    assert data(*cut_at(body, places)) == [value for value in values if value]


@given(st.lists(st.tuples(VALUES, LINE_ENDS, LINE_ENDS), max_size=5))
def test_line_ends_may_change_from_line_to_line(lines):
    body = b"".join(b"data: x" + value.encode() + one + two for value, one, two in lines)
    # CR then LF is one line end, so that pair ends a line but no event.
    glued = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n")
    texts = [block.strip(b"\n") for block in glued[:-1]]
    assert data(body) == [
        "\n".join(line[6:] for line in text.decode().split("\n")) for text in texts if text
    ]


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_a_framer_gives_the_same_blocks_however_garbage_is_split(body, places):
    whole, pieces = Framer(), Framer()
    expected = whole.feed(body)
    actual = [block for piece in cut_at(body, places) for block in pieces.feed(piece)]
    assert actual == expected
    assert pieces.rest() == whole.rest()


def test_the_other_package_of_the_name_sseclient_gets_a_clear_error(monkeypatch):
    class SSEClient:
        def __init__(self, url, last_id=None):
            raise AssertionError("it would have made a request")

    other = types.ModuleType("sseclient")
    other.SSEClient = SSEClient
    monkeypatch.setitem(sys.modules, "sseclient", other)
    monkeypatch.setattr(sse, "_client", None)
    with pytest.raises(ConfigurationError, match="pip uninstall sseclient"):
        events(b"data: 1\n\n")


def test_a_module_without_a_reader_gets_the_same_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "sseclient", types.ModuleType("sseclient"))
    monkeypatch.setattr(sse, "_client", None)
    with pytest.raises(ConfigurationError) as caught:
        events(b"data: 1\n\n")
    assert str(caught.value) == (
        "the installed module 'sseclient' is not from sseclient-py; run: "
        "pip uninstall sseclient && pip install --force-reinstall sseclient-py"
    )


def test_the_reader_of_sseclient_py_is_taken(monkeypatch):
    import sseclient

    monkeypatch.setattr(sse, "_client", None)
    assert data(b"data: 1\n\n") == ["1"]
    assert sse._client is sseclient.SSEClient


def test_only_line_feeds_are_taken_off_what_is_left():
    framer = Framer()
    framer.feed(b"X data: 1 \t")
    assert framer.rest() == b"X data: 1 \t"


def test_the_limit_of_an_event_is_counted_anew_for_each(monkeypatch):
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 10)
    framer = Framer()
    for _ in range(5):
        assert framer.feed(b"data: 1234") == []
        assert framer.feed(b"\n\n") == [b"data: 1234"]
