"""How the documentation is built: `make docs`."""

from __future__ import annotations

import re
from typing import Any, Iterator, List

from mistral_knowledge import __version__

project = "mistral_knowledge"
copyright = "the mistral_knowledge authors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
default_role = "code"
html_theme = "furo"
html_title = f"mistral_knowledge {version}"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
add_module_names = False

# A line that explains names: `name: words` or `name, other: words`.
_EXPLAINED = re.compile(r"(\w+(?:, \w+)*): (.*)")


# Nobody makes these by hand: they come with a client, or from a call.
_NOT_MADE = (
    "Files",
    "Libraries",
    "Documents",
    "Rag",
    "Agent",
    "Conversations",
    "AnswerStream",
    "UploadRun",
)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", _leave_out)
    app.connect("autodoc-process-docstring", _lay_out)


def _leave_out(app: Any, what: str, name: str, *signature: Any) -> Any:
    return ("", None) if what == "class" and name.rpartition(".")[2] in _NOT_MADE else None


def _lay_out(app: Any, what: str, name: str, thing: Any, options: Any, lines: List[str]) -> None:
    """Make lists of the lines that explain arguments, which reStructuredText would join."""
    if what == "module":
        lines.clear()  # the page has words of its own
        return
    lines[:] = list(_laid_out(lines))


def _laid_out(lines: List[str]) -> Iterator[str]:
    paragraph: List[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line)
            continue
        yield from _paragraph(paragraph)
        yield ""
        paragraph = []


def _paragraph(lines: List[str]) -> Iterator[str]:
    first = next((index for index, line in enumerate(lines) if _EXPLAINED.match(line)), None)
    if first is None or lines[0].startswith(">>>"):
        yield from lines
        return
    yield from lines[:first]
    if first:
        yield ""
    for line in lines[first:]:
        explained = _EXPLAINED.match(line)
        names, words = explained.groups() if explained else ("", "")
        yield f"* `{names}`: {words}" if explained else f"  {line.strip()}"
