"""From files to text, and from text to passages."""

import sys

import pytest

from mistral_knowledge.fake_api.passages import LONGEST, passages_of
from mistral_knowledge.fake_api.text import kind_of, pages_of
from mistral_knowledge.fake_api.unreadable import Unreadable


def read(name, content, mime=""):
    return pages_of(content, kind_of(name, mime))


def pdf(*pages):
    """A PDF with a line of text on each page, written by hand."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 {font} >> >> /Contents {4 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    body, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + (head + tail).encode()


def test_html_loses_scripts_styles_and_tags_and_keeps_its_headings():
    page = (
        b"<html><head><title>t</title><style>p{}</style></head><body><script>var x='<p>no'</script>"
        b"<h2>Opening <b>hours</b></h2><p>We open\n at &eacute;ight.<br>Really.<ul><li>One<li>Two"
        b"</ul></body></html>"
    )
    expected = "## Opening hours\n\nWe open at éight.\nReally.\n\nOne\n\nTwo"
    assert read("a.html", page) == [expected]


def test_json_becomes_a_line_for_each_value():
    content = b'{"name": "Ada", "born": {"year": 1815}, "likes": ["maths", null]}'
    assert read("a.json", content) == ["- name: Ada\n- born.year: 1815\n- likes[0]: maths"]
    assert read("a.jsonl", b'{"a": 1}\n\n{"a": 2}\n') == ["- a: 1\n\n- a: 2"]


def test_tables_become_a_line_for_each_row_with_the_names_of_its_columns():
    expected = ["city, people\n- city: Paris, people: 2 million\n- city: Rome, people: 3 million"]
    assert read("a.csv", b"city;people\nParis;2 million\nRome;3 million\n") == expected
    assert read("a.csv", b"") == [""]


def test_a_pdf_gives_its_pages():
    pages = read("a.pdf", pdf("Gravity pulls.", "Light is fast."))
    assert [page.strip() for page in pages] == ["Gravity pulls.", "Light is fast."]


@pytest.mark.parametrize(
    "content", ["\ufeffäöü".encode(), "äöü".encode("utf-16"), "äöü".encode("cp1252")]
)
def test_text_is_read_in_the_encodings_that_old_programs_write(content):
    assert read("a.txt", content) == ["äöü"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", b"a\x00b"), ("a.dat", b"\xff\xfa"), ("a.json", b"["), ("a.pdf", b"%PDF-1.7\n%%EOF")],
)
def test_what_is_no_text_is_unreadable(name, content):
    with pytest.raises(Unreadable):
        read(name, content)


@pytest.mark.parametrize(
    ("name", "mime", "expected"),
    [
        ("A.MD", "", ("md", "text/markdown")),
        ("a", "text/html; charset=utf-8", ("html", "text/html")),
        ("a.weird", "application/x-weird", ("weird", "application/x-weird")),
        ("a", "", ("", "application/octet-stream")),
    ],
)
def test_the_kind_comes_from_the_name_first(name, mime, expected):
    kind = kind_of(name, mime)
    assert (kind.extension, kind.mime_type) == expected


def test_a_heading_stays_with_its_text_and_starts_a_passage():
    text = "# Book\n\n## One\n\nFirst.\nStill first.\n\n## Two\nSecond."
    assert passages_of(text) == ["Book — One — First. Still first.", "Two — Second."]


def test_passages_end_where_sentences_end_and_are_never_too_long():
    sentence = "This is a sentence of some length that says nothing at all. "
    passages = passages_of(sentence * 50 + "x" * 2000)
    assert all(len(passage) <= LONGEST for passage in passages)
    assert all(passage.endswith(".") for passage in passages[:5])
    assert "".join(passages).replace(" ", "") == (sentence * 50 + "x" * 2000).replace(" ", "")


def test_list_items_and_table_rows_keep_their_lines():
    text = (
        "Fees:\n- adults pay\n  twelve\n- children six\n\n1. Come\n2. Pay\n\n| a | b |\n| 1 | 2 |"
    )
    expected = "Fees:\n- adults pay twelve\n- children six\n1. Come\n2. Pay\n| a | b |\n| 1 | 2 |"
    assert passages_of(text) == [expected]


def test_a_heading_stands_above_its_list():
    assert passages_of("# Fees\n\n- adults: 12\n\nThat is all.") == [
        "Fees:\n- adults: 12\nThat is all."
    ]


def test_a_heading_at_the_end_is_a_passage_of_its_own():
    assert passages_of("Text.\n\n# End") == ["Text.", "End"]


def test_a_text_of_blanks_has_no_passages():
    assert passages_of(" \n\n \t ") == []


def test_without_pypdf_a_pdf_is_unreadable(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(Unreadable, match="pypdf is not installed"):
        read("a.pdf", pdf("Gravity pulls."))
