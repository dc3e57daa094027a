"""__init__: the public names, and that nothing heavy is loaded before it is used."""

from __future__ import annotations

import ast
import importlib
import inspect
import pathlib
import site
from typing import Any, Callable, Dict, List, Set

import pytest

import mistral_knowledge

NAMES = [
    "__version__",
    "APIError",
    "AbortSignal",
    "AbortedError",
    "Answer",
    "AnswerError",
    "AnswerFailedError",
    "AnswerRateLimitError",
    "AnswerStream",
    "AnswerTruncatedError",
    "AuthenticationError",
    "Body",
    "Chunk",
    "Citation",
    "CitationEvent",
    "ConfigurationError",
    "ConflictError",
    "ConnectionLostError",
    "Conversation",
    "Document",
    "DocumentStatus",
    "Entry",
    "Event",
    "FakeTransport",
    "File",
    "FinalAnswerEvent",
    "InvalidArgumentError",
    "InvalidRequestError",
    "KnowledgeClient",
    "KnowledgeError",
    "Library",
    "MalformedEventError",
    "MessageEvent",
    "NotFoundError",
    "NotSentError",
    "PartialAnswer",
    "PermissionDeniedError",
    "ProcessingError",
    "ProcessingTimeoutError",
    "RateLimitError",
    "Reply",
    "Request",
    "RequestTimeoutError",
    "RequestsTransport",
    "Retry",
    "SearchResultsEvent",
    "ServerError",
    "Settings",
    "Share",
    "SignedUrl",
    "Source",
    "SyncReport",
    "SyncStep",
    "ThinkingEvent",
    "Timeout",
    "TooLargeError",
    "ToolCall",
    "ToolCallEvent",
    "ToolResultEvent",
    "Transport",
    "TransportError",
    "UnexpectedResponseError",
    "UnknownEvent",
    "UploadOutcome",
    "UploadRun",
    "UploadsAbortedError",
    "Usage",
]

# Each of these costs time, or must not be there before gevent patches it.
HEAVY = {"requests", "urllib3", "ssl", "socket", "asyncio", "http.client", "sqlite3", "sseclient"}
HEAVY |= {"cattrs", "cattr", "attr", "platformdirs", "email", "json", "typing_extensions"}

SOURCE = ast.parse(pathlib.Path(inspect.getfile(mistral_knowledge)).read_text(encoding="utf-8"))


def test_the_public_names_are_these() -> None:
    assert sorted(mistral_knowledge.__all__) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there_and_listed(name: str) -> None:
    assert getattr(mistral_knowledge, name) is getattr(mistral_knowledge, name)
    assert name in dir(mistral_knowledge)


@pytest.mark.parametrize("name", NAMES[1:])
def test_every_public_thing_says_what_it_is(name: str) -> None:
    thing: Any = getattr(mistral_knowledge, name)
    assert name == "Event" or (thing.__doc__ or "").strip()


def test_every_error_is_public() -> None:
    errors = importlib.import_module("mistral_knowledge.errors")
    classes = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.KnowledgeError)
    }
    assert classes - set(NAMES) == set()


def test_what_type_checkers_see_is_what_the_table_says() -> None:
    block = next(node for node in SOURCE.body if isinstance(node, ast.If))
    seen: Dict[str, Set[str]] = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name  # only that form is a re-export to mypy --strict
            seen.setdefault(node.module or "", set()).add(alias.name)
    table: Any = mistral_knowledge._HOMES  # type: ignore[attr-defined]
    assert seen == {home: set(names) for home, names in table.items()}


def test_a_name_that_is_not_there_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Klient'"):
        mistral_knowledge.Klient  # type: ignore[attr-defined]  # noqa: B018


def test_a_star_import_brings_all_of_them() -> None:
    names: Dict[str, Any] = {}
    exec("from mistral_knowledge import *", names)
    assert set(NAMES) - set(names) == set()


def loaded(run_python: Callable[..., Any], code: str) -> List[str]:
    """The heavy modules that are loaded after `code` ran in a fresh Python."""
    done = run_python("-S", "-c", f"{code}\nimport sys; print(*sys.modules)")
    assert done.stderr == ""
    return sorted(HEAVY & set(done.stdout.split()))


def test_importing_the_package_loads_nothing_heavy(run_python: Any) -> None:
    assert loaded(run_python, "import mistral_knowledge") == []


WITH_PACKAGES = f"import sys; sys.path += {site.getsitepackages()!r}\n"
NETWORK = {"requests", "urllib3", "ssl", "sqlite3", "asyncio", "http.client"}


@pytest.mark.parametrize(
    "code",
    [
        "import mistral_knowledge.transports.requests",
        "import mistral_knowledge.client",
        "from mistral_knowledge import KnowledgeClient; client = KnowledgeClient('key')",
        "from mistral_knowledge import RequestsTransport; RequestsTransport().close()",
    ],
)
def test_making_a_client_loads_nothing_of_the_network(run_python: Any, code: str) -> None:
    assert set(loaded(run_python, WITH_PACKAGES + code)) & NETWORK == set()


def test_the_library_adds_no_handler_that_prints() -> None:
    import logging

    handlers = logging.getLogger("mistral_knowledge").handlers
    assert [type(handler) for handler in handlers] == [logging.NullHandler]
