"""A streamed answer and a one-shot answer that say the same are equal."""

import json

from hypothesis import given, strategies as st

from .wire import USAGE, chunk, completion, cut_at, one_shot, sse, stream_of

WORDS = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=12)
TEXTS = WORDS.map(lambda text: {"type": "text", "text": text})
REFERENCES = st.builds(
    lambda ids, text: {
        "type": "reference",
        "reference_ids": ids,
        **({"text": text} if text else {}),
    },
    st.lists(st.one_of(st.integers(0, 3), st.sampled_from(["a", "0"])), min_size=1, max_size=3),
    st.one_of(st.none(), WORDS),
)
PAGES = st.builds(
    lambda title, query: {
        "type": "tool_reference",
        "tool": "web_search",
        "title": title,
        "url": f"https://w/?{query}",
    },
    st.sampled_from(["A", "B"]),
    st.integers(0, 2),
)
DOCUMENTS = st.builds(
    lambda name, signature: {
        "type": "document_url",
        "document_url": f"https://f/{name}?sig={signature}",
        "document_name": name,
    },
    st.sampled_from(["a.pdf", "b.md"]),
    st.integers(0, 2),
)
THINKING = WORDS.map(
    lambda text: {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
)
ODD = st.builds(lambda n: {"type": f"future{n}"}, st.integers(0, 2))
CONTENTS = st.lists(st.one_of(TEXTS, REFERENCES, PAGES, DOCUMENTS, THINKING, ODD), max_size=12)
CALLS = st.lists(st.tuples(WORDS, WORDS), max_size=2)


@st.composite
def answers(draw):
    """(content, tool calls, the same content in random deltas)."""
    content = draw(CONTENTS)
    deltas = []
    for piece in content:
        if piece["type"] == "text":
            deltas += draw(
                st.sampled_from([list(piece["text"]), [piece["text"]], [piece], [[piece]]])
            )
        elif deltas and isinstance(deltas[-1], list) and draw(st.booleans()):
            deltas[-1] = [*deltas[-1], piece]
        else:
            deltas.append([piece])
    return content, draw(CALLS), deltas


@given(answers(), st.lists(st.integers(0, 20_000), max_size=20))
def test_random_answers_cut_into_random_deltas_and_bytes_are_equal(made, places):
    content, calls, deltas = made
    tool_calls = [
        {"id": f"c{n}", "index": n, "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    head = [chunk("", role="assistant")]
    head += [chunk(tool_calls=[call]) for call in tool_calls]
    body = sse(*head, *map(chunk, deltas), chunk("", "stop", usage=USAGE), done=True)
    streamed = stream_of(cut_at(body, places)).get_answer()
    whole = one_shot(completion(content, tool_calls=tool_calls or None)).get_answer()
    assert streamed == whole
    assert streamed.render("markdown") == whole.render("markdown")
    assert json.dumps([c.raw for c in streamed.citations]) == json.dumps(
        [c.raw for c in whole.citations]
    )


@given(answers())
def test_the_deltas_of_a_stream_are_its_text_and_offsets_point_into_it(made):
    stream = one_shot(completion(made[0]))
    assert "".join(stream.text_stream) == stream.answer.text
    for citation in stream.answer.citations:
        cited = stream.answer.text[citation.start_index : citation.end_index]
        assert cited == citation.raw.get("text", "")
