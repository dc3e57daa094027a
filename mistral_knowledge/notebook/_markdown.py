"""Markdown of a model as HTML that can do nothing: no tags of its own, no images, plain links."""

from __future__ import annotations

import functools
import html
import re
from typing import Any, Iterable, Tuple

# Characters of the private use area stand for the marks while the text is rendered.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")

# What opens something for whoever holds it; a model may repeat it from what it read.
_SIGNED = re.compile(
    r"(https?://[^\s<>\"')?]+)\?[^\s<>\"')]*?"
    r"(?:sig|signature|token|credential|x-[a-z]+-signature)=[^\s<>\"')]*",
    re.IGNORECASE,
)


def rendered(text: str, marks: Iterable[Tuple[int, int]] = ()) -> str:
    """`text` as HTML, with a raised number behind each cited place.

    marks: (offset, number) pairs
    """
    marked = _marked(text.replace(_OPEN, "").replace(_CLOSE, ""), text, marks)
    body = _markdown()(_SIGNED.sub(r"\1?***", marked))
    return _MARK.sub(r"<sup>[\1]</sup>", body)


def plain(text: str) -> str:
    """`text` as it stands, its lines kept."""
    return f'<div style="white-space: pre-wrap">{html.escape(text)}</div>'


def _marked(clean: str, text: str, marks: Iterable[Tuple[int, int]]) -> str:
    if clean != text:
        return clean  # offsets no longer fit a text that used our own marks
    pieces, done = [], 0
    for offset, number in sorted(set(marks)):
        pieces += [text[done:offset], f"{_OPEN}{number}{_CLOSE}"]
        done = offset
    return "".join(pieces) + text[done:]


@functools.lru_cache(maxsize=1)
def _markdown() -> Any:
    """A function from Markdown to HTML; without the extra the text stays as it is."""
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        return plain
    # An image would be fetched from wherever the model says, by whoever opens the notebook.
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    reader.validateLink = is_web  # type: ignore[method-assign]
    return reader.render


def is_web(url: str) -> bool:
    """Whether it is a plain link, which may become one."""
    return url.startswith(("http://", "https://"))
