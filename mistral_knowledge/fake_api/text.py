"""From an uploaded file to readable text, page by page."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any, Callable, Dict, Iterator, List

import attr

from .html_text import text_of_html
from .pdf_text import pages_of_pdf
from .unreadable import Unreadable

LONGEST = 64 * 1024 * 1024

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TEXT_KINDS = frozenset({"txt", "md", "rst", "csv", "tsv", "html", "htm", "xml", "log", "tex"})

# The machine's own tables differ; these do not.
MIME_TYPES = {
    "txt": "text/plain",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "rst": "text/x-rst",
    "html": "text/html",
    "htm": "text/html",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "ipynb": "application/x-ipynb+json",
    "xml": "application/xml",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "epub": "application/epub+zip",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
}
_EXTENSIONS = {mime: extension for extension, mime in reversed(list(MIME_TYPES.items()))}


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Kind:
    """What a file is: `extension` without its dot (or ""), and MIME type."""

    extension: str
    mime_type: str


def kind_of(filename: str, content_type: str) -> Kind:
    """What a file is, from its name first and from what the sender says second."""
    _, dot, extension = filename.rpartition(".")
    extension = extension.lower() if dot else ""
    said = content_type.partition(";")[0].strip().lower()
    if extension in MIME_TYPES:
        return Kind(extension, MIME_TYPES[extension])
    return Kind(extension or _EXTENSIONS.get(said, ""), said or "application/octet-stream")


def may_be_text(start: bytes) -> bool:
    """Whether it is worth reading on, from how a file starts."""
    return b"\x00" not in start or start.startswith((b"%PDF-", b"\xff\xfe", b"\xfe\xff"))


def pages_of(content: bytes, kind: Kind) -> List[str]:
    """The text of each page; what has no pages is one. Raises Unreadable."""
    # Halves of characters, which JSON and PDF can spell, fit into no database.
    return [page.encode("utf-8", "replace").decode() for page in _pages_of(content, kind)]


def _pages_of(content: bytes, kind: Kind) -> List[str]:
    if kind.mime_type == "application/pdf" or content.startswith(b"%PDF-"):
        return pages_of_pdf(content)
    text = decoded(content, kind)
    reader = _READERS.get(_EXTENSIONS.get(kind.mime_type, kind.extension))
    return [reader(text) if reader is not None else text]


def decoded(content: bytes, kind: Kind) -> str:
    """`content` as text: UTF-8, UTF-16 with its mark, or an old single-byte code page."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", "replace")
    else:
        text = _utf8_or_old(content, kind)
    if _CONTROL.search(text):
        raise Unreadable("it is not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _utf8_or_old(content: bytes, kind: Kind) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if kind.extension in _TEXT_KINDS or kind.mime_type.startswith("text/"):
            return content.decode("cp1252", "replace")
        raise Unreadable("it is not text") from None


def _text_of_json(text: str) -> str:
    try:
        return "\n".join(_lines_of(json.loads(text), ""))
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is not JSON") from error


def _text_of_json_lines(text: str) -> str:
    return "\n\n".join(_text_of_json(line) for line in text.splitlines() if line.strip())


def _lines_of(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines_of(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _lines_of(inner, f"{path}[{number}]")
    elif value is not None:
        yield f"- {path}: {value}" if path else str(value)


def _text_of_table(text: str) -> str:
    try:
        dialect: Any = csv.Sniffer().sniff(text[:4096], ",;\t|")
    except csv.Error:
        dialect = "excel"
    try:
        rows = [row for row in csv.reader(io.StringIO(text), dialect) if any(row)]
    except csv.Error as error:
        raise Unreadable("it is not a table") from error
    head = rows[0] if rows else []
    lines = [_line_of(head, row) for row in rows[1:]]
    return "\n".join([", ".join(head), *lines])


def _line_of(head: List[str], row: List[str]) -> str:
    names = head + [""] * (len(row) - len(head))
    cells = (f"{name}: {cell}" if name else cell for name, cell in zip(names, row) if cell)
    return "- " + ", ".join(cells)


_READERS: Dict[str, Callable[[str], str]] = {
    "html": text_of_html,
    "json": _text_of_json,
    "ipynb": _text_of_json,
    "jsonl": _text_of_json_lines,
    "csv": _text_of_table,
    "tsv": _text_of_table,
}
