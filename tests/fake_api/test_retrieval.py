"""Questions find the passages that answer them, whatever the question looks like."""

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.words import query_of, terms_of

from .asking import Asker, asking

NOTES = {
    "light.md": b"The speed of light is 299792 kilometres per second. It was measured by Fizeau.",
    "bread.md": "Das Brot kostet drei Euro. Für Kinder ist es kostenlos.".encode(),
    "tokyo.md": "東京は日本の首都です。".encode(),
    "what.md": b"What is it that the other one of them was, and why is it so?",
    "cafe.md": "Le café ouvre à huit heures.".encode(),
}


@pytest.fixture
def notes(ask: Asker) -> str:
    library = ask.library()
    for name, content in NOTES.items():
        ask.ready(library, name, content)
    return library


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is the speed of light?", "light.md"),
        ("Who was the one that measured it?", "light.md"),
        ("Was kostet das Brot?", "bread.md"),
        ("日本の首都はどこですか", "tokyo.md"),
        ("When does the cafe open, à quelle heure ouvre-t-il ?", "cafe.md"),
        ('speed" OR NEAR(light) -kilometres *', "light.md"),
        ("SPEEDS", "light.md"),
    ],
)
def test_a_question_finds_its_document_first(ask, notes, question, name):
    chunks = ask.content(notes, question)
    assert chunks[1]["document_name"] == name


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "?!",
        "😀😀",
        '"',
        "'; DROP TABLE passages; --",
        "elephants",
        "NEAR",
        "NOT",
        "\x00",
        "(",
    ],
)
def test_a_question_that_finds_nothing_is_told_so(ask, notes, question):
    assert (
        ask.content(notes, question) == "No passage in the given libraries matches this question."
    )


def test_stop_words_are_dropped_unless_there_is_nothing_else():
    assert terms_of("What is the speed of the light?") == ["speed", "light"]
    assert terms_of("Who are you?") == ["who", "are", "you"]


def test_nothing_in_a_question_is_an_operator():
    assert query_of('fee AND "x" NEAR/2 y*') == '"fee" OR "x" OR "near" OR "2"'


def test_a_long_question_is_cut():
    assert query_of(" ".join(f"word{number}" for number in range(500))).count(" OR ") == 63


def test_only_the_libraries_that_are_named_are_searched(ask, museum):
    other = ask.library()
    ask.ready(other, "other.md", b"The entry fee is 99 euros.")
    assert "12 euros" in ask.text(museum, "What is the entry fee?")
    assert "99" not in ask.text(museum, "What is the entry fee?")


def test_the_same_passage_twice_is_quoted_once(ask, museum):
    ask.ready(museum, "copy.md", b"\n# Fees\n\nThe entry fee is 12 euros.")
    assert ask.text(museum, "What is the entry fee?").count("12 euros") == 1


def test_documents_that_are_not_ready_are_not_searched_and_the_answer_says_so(ask, museum):
    ask.upload(museum, "late.md", b"The entry fee is 77 euros.")
    text = ask.text(museum, "What is the entry fee?")
    assert ("77" in text, "(1 document is still being processed.)" in text) == (False, True)


@given(question=st.text(max_size=60))
def test_any_question_is_answered(question):
    with KnowledgeApi(polls_until_done=0) as api:
        ask = Asker(api)
        library = ask.library()
        ask.upload(library, "a.md", f"It says: {question} and more".encode("utf-8", "replace"))
        assert ask.status("POST", "/v1/chat/completions", asking(library, question)) == 200
