"""Compressed bodies: whole or an error, however they are cut."""

import gzip
import random
import zlib
from http.client import IncompleteRead

import pytest
from urllib3.exceptions import DecodeError

from mistral_knowledge.transports._inflating import Inflater

TEXT = bytes(random.Random(7).randrange(256) for _ in range(1000)) * 3


def bare(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "x-gzip": ("x-gzip", gzip.compress(TEXT)),
    "two members": ("gzip", gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:])),
    "deflate": ("deflate", zlib.compress(TEXT)),
    "bare deflate": ("deflate", bare(TEXT)),
}


def inflated(encoding, packed, size=100):
    pieces = iter([packed[at : at + size] for at in range(0, len(packed), size)])
    inflater = Inflater(encoding, lambda: next(pieces, b""))
    return b"".join(iter(inflater.read, b""))


@pytest.mark.parametrize("size", [1, 7, 100, 100_000])
@pytest.mark.parametrize(("encoding", "packed"), PACKED.values(), ids=PACKED)
def test_a_body_comes_out_the_same_however_it_is_split(encoding, packed, size):
    assert inflated(encoding, packed, size) == TEXT


@pytest.mark.parametrize("name", ["gzip", "deflate", "bare deflate"])
def test_a_body_that_was_cut_anywhere_is_never_whole(name):
    encoding, packed = PACKED[name]
    for end in range(1, len(packed)):
        with pytest.raises((IncompleteRead, DecodeError)):
            inflated(encoding, packed[:end])


def test_padding_behind_the_end_does_no_harm():
    assert inflated("gzip", gzip.compress(TEXT) + b"\0" * 50) == TEXT


def test_an_empty_body_is_empty():
    assert inflated("gzip", b"") == b""


def test_what_is_not_compressed_is_an_error():
    with pytest.raises(DecodeError):
        inflated("gzip", b"plain text")
