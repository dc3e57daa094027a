"""What the package offers by name, and what importing it costs."""

import ast
import pathlib

import pytest

import mistral_knowledge

SOURCE = pathlib.Path(mistral_knowledge.__file__).read_text(encoding="utf-8")

NAMES = """
APIError AbortSignal AbortedError Answer AnswerError AnswerFailedError AnswerRateLimitError
AnswerStream AnswerTruncatedError AuthenticationError Body Chunk Citation CitationEvent
ConfigurationError ConflictError ConnectionLostError Conversation Document DocumentStatus Entry
Event FakeTransport File FinalAnswerEvent InvalidArgumentError InvalidRequestError KnowledgeClient
KnowledgeError Library MalformedEventError MessageEvent NotFoundError NotSentError PartialAnswer
PermissionDeniedError ProcessingError ProcessingTimeoutError RateLimitError Reply Request
RequestTimeoutError RequestsTransport Retry SearchResultsEvent ServerError Settings Share SignedUrl
Source ThinkingEvent Timeout TooLargeError ToolCall ToolCallEvent ToolResultEvent Transport
TransportError UnexpectedResponseError UnknownEvent Usage __version__
""".split()


def test_the_public_names_are_these():
    assert sorted(mistral_knowledge.__all__) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there_and_listed(name):
    assert getattr(mistral_knowledge, name) is not None
    assert name in dir(mistral_knowledge)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = mistral_knowledge.Nothing


def test_what_type_checkers_see_is_what_is_loaded():
    seen = {
        alias.name: f"mistral_knowledge.{node.module}"
        for block in ast.parse(SOURCE).body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    loaded = {
        name: f"mistral_knowledge.{home}" for name, home in mistral_knowledge._HOME_OF.items()
    }
    assert seen == loaded


def test_every_public_class_has_a_docstring():
    bare = [name for name in NAMES if not getattr(mistral_knowledge, name).__doc__]
    assert [name for name in bare if name not in ("__version__", "Event")] == []


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import mistral_knowledge", "requests urllib3 ssl asyncio attr cattrs sseclient sqlite3"),
        (
            "from mistral_knowledge import KnowledgeClient; KnowledgeClient('key')",
            "requests urllib3 ssl asyncio sqlite3",
        ),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(run_python, statement, unwanted):
    code = f"{statement}; import sys; print([m for m in {unwanted.split()} if m in sys.modules])"
    assert run_python("-c", code).stdout.strip() == "[]"
