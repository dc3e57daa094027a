"""A simple tokenizer: a word or a punctuation mark is a token."""

from __future__ import annotations

import random
import re
from typing import Iterator, List

_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\s*\S+|\s+")


def count_tokens(text: str) -> int:
    """How many tokens `text` has."""
    return sum(1 for _ in _TOKEN.finditer(text))


def first_tokens(text: str, count: int) -> str:
    """`text` up to the end of its token number `count`."""
    if count <= 0:
        return ""
    for number, match in enumerate(_TOKEN.finditer(text), 1):
        if number == count:
            return text[: match.end()]
    return text


def small_pieces(text: str, chance: random.Random) -> Iterator[str]:
    """`text` as a model streams it: one to three words at a time; joined they are `text`."""
    words: List[str] = _WORD.findall(text)
    at = 0
    while at < len(words):
        size = chance.randint(1, 3)
        yield "".join(words[at : at + size])
        at += size
