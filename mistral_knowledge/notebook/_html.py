"""What a cell shows of an answer: text with numbered citations, sources, what led to it."""

from __future__ import annotations

import html
from typing import Iterable, Sequence

from ..models.answers import Answer, Citation, Source, ToolCall, Usage
from ._markdown import is_web, plain, rendered


def answer_html(answer: Answer) -> str:
    """An answer with its sources."""
    calls = [call_line(call) for call in answer.tool_calls]
    note = "The answer ran into its length limit." if answer.truncated else ""
    return "".join(
        [
            folded("Thinking", plain(answer.thinking) if answer.thinking else ""),
            folded("Tool calls", "".join(calls)),
            text_html(answer.text, answer.citations),
            sources_html(answer.sources),
            _small(note),
            _small(usage_words(answer.usage)) if answer.usage else "",
        ]
    )


def text_html(text: str, citations: Iterable[Citation]) -> str:
    """The text, rendered, with the numbers of its sources."""
    return rendered(text, [(one.end_index, one.index) for one in citations])


def sources_html(sources: Sequence[Source]) -> str:
    """The numbered sources; of URLs only those on the web, the others are signed."""
    if not sources:
        return ""
    items = "".join(f'<li value="{one.index:d}">{_source(one)}</li>' for one in sources)
    return f"<p><b>Sources</b></p><ol>{items}</ol>"


def folded(title: str, body: str) -> str:
    """`body` folded away under `title`; nothing where there is none."""
    return f"<details><summary>{html.escape(title)}</summary>{body}</details>" if body else ""


def call_line(call: ToolCall) -> str:
    """A call of a tool."""
    return f"<div><code>{html.escape(f'{call.name}({call.arguments})')}</code></div>"


def note_html(words: str) -> str:
    """A remark beside the answer."""
    return f'<p role="status"><em>{html.escape(words)}</em></p>'


def usage_words(usage: Usage) -> str:
    """Token counts in words."""
    counts = [
        (usage.prompt_tokens, "in"),
        (usage.completion_tokens, "out"),
        (usage.total_tokens, "in all"),
    ]
    told = [f"{count} {what}" for count, what in counts if count is not None]
    return f"tokens: {', '.join(told)}" if told else "tokens: the server did not say"


def _source(source: Source) -> str:
    label = html.escape(source.label)
    if source.source_type == "web" and is_web(str(source.url)):
        target = html.escape(str(source.url), quote=True)
        label = f'<a href="{target}" target="_blank" rel="noopener noreferrer">{label}</a>'
    return label if source.resolved else f"{label} (source unknown)"


def _small(words: str) -> str:
    return f"<p><small>{html.escape(words)}</small></p>" if words else ""
