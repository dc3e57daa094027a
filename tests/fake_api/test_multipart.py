"""Multipart bodies, however they are cut."""

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge.fake_api.multipart import (
    MultipartError,
    PartBegin,
    PartData,
    boundary_of,
    parse,
)

from .asking import multipart


def read(blocks):
    parts = []
    for event in parse(blocks, "B"):
        if isinstance(event, PartBegin):
            parts.append([event.name, event.filename, b""])
        elif isinstance(event, PartData):
            parts[-1][2] += event.data
    return parts


@given(
    content=st.lists(st.sampled_from([b"\r\n", b"--", b"B", b"\r", b"\n", b"x", b"\r\n--"])).map(
        lambda pieces: b"".join(pieces).replace(b"\r\n--B", b"")
    ),
    size=st.integers(1, 40),
)
def test_any_cut_of_the_same_bytes_gives_the_same_parts(content, size):
    content = content.replace(b"\r\n--B", b"")
    body = multipart("a.txt", content, purpose="ocr")
    blocks = [body[at : at + size] for at in range(0, len(body), size)]
    assert read(blocks) == read([body]) == [["purpose", None, b"ocr"], ["file", "a.txt", content]]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--B\r\n",
        b"--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--\r\n",
        b"--Bx\r\n\r\n",
        b"--B\r\n" + b"x" * 20000,
    ],
)
def test_a_body_that_is_none_is_an_error(body):
    with pytest.raises(MultipartError):
        read([body])


def test_only_multipart_form_data_has_a_boundary():
    assert boundary_of('multipart/form-data; boundary="a b"') == "a b"
    assert boundary_of("application/json") is None
    assert boundary_of("multipart/form-data") is None
