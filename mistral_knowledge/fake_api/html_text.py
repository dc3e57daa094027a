"""The words of an HTML page, without scripts, styles and tags."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import List, Optional, Tuple

_DROPPED = frozenset({"script", "style", "template", "noscript", "head"})
_BLOCK_NAMES = """
address article aside blockquote body dd div dl dt fieldset figure footer form header hr li main nav
ol p pre section table tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
Attributes = List[Tuple[str, Optional[str]]]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: List[str] = []
        self._dropped = 0

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag in _DROPPED:
            self._dropped += 1
        elif tag in _HEADINGS:
            self.words.append("\n\n" + _HEADINGS[tag])
        elif tag in _BLOCKS:
            self.words.append("\n\n")
        elif tag in ("br", "td", "th"):
            self.words.append("\n" if tag == "br" else " ")

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        # `<script/>` opens nothing that would be closed again.
        if tag not in _DROPPED:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _DROPPED:
            self._dropped = max(0, self._dropped - 1)
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.words.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._dropped:
            self.words.append(re.sub(r"\s+", " ", data))


def text_of_html(page: str) -> str:
    """The readable text: headings in Markdown form, blocks apart by an empty line."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    lines = [line.strip() for line in "".join(reader.words).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
