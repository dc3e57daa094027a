"""_error_words: the server's words out of every shape of error body (wire.md 0.1)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge._error_words import ErrorWords, is_error_payload, words_of, words_of_body

PROMPT = "my secret question"
DETAIL = [
    {"loc": ["body", "model"], "msg": "Field required", "type": "missing", "input": PROMPT},
    {"loc": ["body", "n", 0], "msg": "too big", "type": "x", "ctx": {"p": PROMPT}, "url": "u"},
]
DETAIL_WORDS = "body.model: Field required; body.n.0: too big"
ERROR = {
    "object": "error",
    "message": "No such model",
    "type": "invalid_model",
    "param": None,
    "code": "1500",
    "raw_status_code": 400,
}


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"detail": DETAIL}, ErrorWords(DETAIL_WORDS)),
        ({"detail": "Unauthorized"}, ErrorWords("Unauthorized")),
        ({"detail": "No", "code": "WF_1100"}, ErrorWords("No", "WF_1100")),
        ({"detail": {"message": "No", "error_code": "E1"}}, ErrorWords("No")),
        ({"message": "No", "error_code": "E1"}, ErrorWords("No", "E1")),
        (ERROR, ErrorWords("No such model", "1500", "invalid_model")),
        ({**ERROR, "code": None}, ErrorWords("No such model", None, "invalid_model")),
        ({**ERROR, "code": 1500}, ErrorWords("No such model", "1500", "invalid_model")),
        (
            {**ERROR, "message": {"detail": DETAIL}},
            ErrorWords(DETAIL_WORDS, "1500", "invalid_model"),
        ),
        (
            {**ERROR, "message": json.dumps({"detail": DETAIL})},
            ErrorWords(DETAIL_WORDS, "1500", "invalid_model"),
        ),
        ({"message": "{no json"}, ErrorWords("{no json")),
        ({"message": "No", "request_id": "r-1"}, ErrorWords("No", None, None, "r-1")),
        ({"message": "No"}, ErrorWords("No")),
        ({"error": {"message": "No", "code": 7, "type": "t"}}, ErrorWords("No", "7", "t")),
        ({"error": "No", "reason": "quota"}, ErrorWords("No: quota")),
        ({"error": "No", "request_id": "r-2"}, ErrorWords("No", None, None, "r-2")),
        ("just text", ErrorWords("just text")),
        (DETAIL, ErrorWords(DETAIL_WORDS)),
        ({"detail": [{"loc": ["body"]}, "text", 5, None]}, ErrorWords("body; text; 5")),
        ({"detail": []}, ErrorWords()),
        ({}, ErrorWords()),
        (None, ErrorWords()),
        (17, ErrorWords()),
        (True, ErrorWords()),
    ],
)
def test_every_shape_of_error_body_gives_its_words(payload: Any, words: ErrorWords) -> None:
    assert words_of(payload) == words
    assert words_of_body(json.dumps(payload).encode()) == words


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", ""),
        (b"  \r\n", ""),
        (b"Bad gateway", "Bad gateway"),
        (
            b"<html><head><title>x</title></head><body><h1>502 Bad Gateway</h1><hr>nginx</html>",
            "502 Bad Gateway nginx",
        ),
        (b"<style>p {color: red}</style><p>Too <b>large</b></p>", "Too large"),
        (b"<script>steal()</script >gone", "gone"),
        (b"<head><title>never closed<body>words", "words"),
        (b"1 < 2", "1 < 2"),
        ('{"detail": "caf\u00e9"}'.encode(), "caf\u00e9"),
        (b'\xef\xbb\xbf{"detail": "behind a BOM"}', "behind a BOM"),
        (b"\xff\xfe broken", "\ufffd\ufffd broken"),
        (b'{"detail": "cut', '{"detail": "cut'),
    ],
)
def test_bodies_that_are_no_json_are_read_as_utf8_without_markup(body: bytes, message: str) -> None:
    assert words_of_body(body) == ErrorWords(message)


def test_what_a_validation_error_echoes_of_the_request_is_left_out() -> None:
    assert PROMPT not in repr(words_of({"detail": DETAIL}))
    assert PROMPT not in repr(words_of({**ERROR, "message": {"detail": DETAIL}}))


def test_words_are_redacted() -> None:
    words = words_of({"message": "GET https://x.example/a?sig=s3cr3t with Bearer abc failed"})
    assert words.message == "GET https://x.example/a?*** with Bearer *** failed"


def test_words_are_one_line_of_bounded_length() -> None:
    assert words_of("a\n\t b").message == "a b"
    assert len(words_of("long " * 10_000).message) == 2000


@pytest.mark.parametrize(
    "body",
    [
        b"<" * 65_536,
        b"<head" * 13_000,
        b"<script>" * 8_000,
        b"a?" * 32_768,
        b"[" * 65_536,
        b'{"error":' * 7_000 + b'"x"' + b"}" * 7_000,
        b'{"detail":' * 6_000 + b'"x"' + b"}" * 6_000,
        b'{"detail":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    ],
)
def test_a_hostile_body_costs_neither_time_nor_a_foreign_error(body: bytes) -> None:
    began = time.perf_counter()
    assert isinstance(words_of_body(body), ErrorWords)
    assert time.perf_counter() - began < 1.0


@given(st.binary())
def test_any_bytes_have_words(body: bytes) -> None:
    assert isinstance(words_of_body(body).message, str)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["detail", "message", "error", "msg", "code"]), inner)
    ),
)


@given(json_values)
def test_any_json_has_words_of_text(payload: Any) -> None:
    words = words_of(payload)
    assert isinstance(words.message, str)
    assert all(isinstance(word, (str, type(None))) for word in (words.code, words.type))


@pytest.mark.parametrize(
    ("payload", "is_error"),
    [
        ({"object": "error", "message": "x"}, True),
        ({"error": {"message": "x"}}, True),
        ({"error": "x", "choices": []}, True),
        ({"detail": "x"}, True),
        ({"message": "x", "code": 5}, True),
        ({"message": None}, True),
        ({"choices": [], "message": "x"}, False),
        ({"outputs": [], "detail": "x"}, False),
        ({"message": {"role": "assistant"}}, False),
        ({"error": None, "choices": []}, False),
        ({"id": "x"}, False),
    ],
)
def test_an_error_under_status_200_is_told_from_an_answer(payload: Any, is_error: bool) -> None:
    assert is_error_payload(payload) is is_error
