"""assembly: what it tells before the answer is whole."""

from mistral_knowledge.answers.assembly import Assembly, Cited
from mistral_knowledge.models.answers import Source


def web(title="A page", url="https://example.org/a"):
    return Cited(("web", url), "web", url, None, title, url)


def test_a_source_that_was_found_has_no_number_yet_and_the_id_that_its_citation_will_have():
    assembly = Assembly()
    (found,) = assembly.found([web()])
    (event,) = assembly.cite([web()], "", {}, "tool_reference")
    (source,) = found.results
    url = "https://example.org/a"
    assert source == Source(
        id=event.citation.id, index=0, source_type="web", source_id=url, title="A page", url=url
    )
    assert (source.spans, event.citation.index) == ([], 1)


def test_a_partial_answer_says_the_token_counts_that_have_come():
    assembly = Assembly()
    assert assembly.partial().usage is None
    assembly.usage({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7})
    assert assembly.partial().usage == assembly.total_usage
    assert assembly.partial().usage.total_tokens == 7
