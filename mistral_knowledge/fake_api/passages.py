"""Cutting a text into passages: long enough to make sense, short enough to be quoted."""

from __future__ import annotations

import re
import textwrap
from typing import Iterator, List, Tuple

LONGEST = 500

_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=#{1,6} )")
_HEADING = re.compile(r"#{1,6} +(.+?)[ #]*(?:\n|$)")
_ITEM = re.compile(r"[-*+•] |\d{1,3}[.)] |\|")
# The last three are the full stops of scripts that put no blank behind them.
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[\u3002\uff01\uff1f])")

_DASH = " — "


def passages_of(text: str) -> List[str]:
    """The passages, in order: about `LONGEST` characters at most, cut where a paragraph, a list
    item or a sentence ends.

    A heading starts a passage and stays with what it heads.
    """
    passages: List[str] = []
    headings: List[str] = []
    fresh = True
    for unit, is_heading in _units(text):
        if is_heading:
            headings.append(unit)
            fresh = True
            continue
        if not fresh and len(passages[-1]) + len(unit) < LONGEST:
            passages[-1] += _gap(passages[-1], unit) + unit
        else:
            passages.append(_headed(headings, unit))
        headings, fresh = [], False
    return passages + ([_DASH.join(headings)] if headings else [])


def _headed(headings: List[str], unit: str) -> str:
    if headings and _ITEM.match(unit):
        return f"{_DASH.join(headings)}:\n{unit}"
    return _DASH.join([*headings, unit])


def _gap(before: str, unit: str) -> str:
    last_line = before[before.rfind("\n") + 1 :]
    return "\n" if _ITEM.match(unit) or _ITEM.match(last_line) else " "


def _units(text: str) -> Iterator[Tuple[str, bool]]:
    for paragraph in _PARAGRAPH.split(text):
        heading = _HEADING.match(paragraph)
        if heading is not None:
            yield _flat(heading.group(1))[:LONGEST], True
            paragraph = paragraph[heading.end() :]
        for unit in _small(_lines(paragraph)):
            yield unit, False


def _small(lines: List[str]) -> Iterator[str]:
    if sum(map(len, lines)) + len(lines) <= LONGEST:
        yield from ["\n".join(lines)] if lines else []
        return
    for line in lines:
        for sentence in [line] if len(line) <= LONGEST else _SENTENCE.split(line):
            yield from textwrap.wrap(sentence, LONGEST, break_on_hyphens=False)


def _lines(paragraph: str) -> List[str]:
    """The items of a paragraph; one line if it has none. Line ends within them are blanks."""
    items: List[List[str]] = []
    for line in filter(None, map(_flat, paragraph.split("\n"))):
        if items and not _ITEM.match(line):
            items[-1].append(line)
        else:
            items.append([line])
    return [" ".join(item) for item in items]


def _flat(text: str) -> str:
    return " ".join(text.split())
