"""The corpus of the fuzz target, and its neighbours, as a plain test: see fuzz/target.py."""

import json
import pathlib

import pytest
from hypothesis import given, strategies as st

from fuzz.target import check

from .conftest import ROOT

CORPUS = sorted((ROOT / "fuzz" / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_every_input_of_the_corpus_gives_events_or_an_error_of_ours(path: pathlib.Path) -> None:
    data = path.read_bytes()
    for choice in {data[0], data[0] ^ 1, data[0] ^ 2, data[0] ^ 4}:
        for step in (0, 1, 6, 255):
            check(bytes([choice, step]) + data[2:])


@given(st.sampled_from(CORPUS), st.integers(0), st.binary(max_size=3), st.integers(0, 4))
def test_an_input_that_is_spoilt_anywhere_does_too(path, place, put, taken) -> None:
    data = path.read_bytes()
    start = place % (len(data) + 1)
    check(data[:start] + put + data[start + taken :])


KEYS = st.sampled_from(
    "type id choices delta message messages content text index usage tool_calls function name "
    "arguments reference_ids thinking finish_reason outputs info results title url tool "
    "document_url conversation_id error detail code object tool_call_id output_index connectors "
    "model".split()
)
VALUES = (
    "message.output.delta message.output tool.execution.done function.call.delta "
    "conversation.response.done tool.execution reference tool_reference text document_url "
    "thinking stop assistant error null x"
)
WORDS = st.sampled_from([*VALUES.split(), "", "\ud800"])
LEAVES = st.one_of(WORDS, st.none(), st.booleans(), st.integers(), st.floats())
SHAPES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5)
)


@given(st.lists(SHAPES, max_size=4), st.integers(0, 3), st.integers(0, 255))
def test_json_of_any_shape_in_the_words_of_the_api_does_too(shapes, choice, step) -> None:
    texts = [json.dumps(shape).encode() for shape in shapes]
    body = b"".join(b"data: " + text + b"\n\n" for text in texts) if choice < 2 else b"".join(texts)
    check(bytes([choice, step]) + body)
