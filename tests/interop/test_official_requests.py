"""The official SDK and ours, operation by operation, against the served in-memory API."""

from __future__ import annotations

import functools
import inspect
import mimetypes
from typing import Any, Dict, Iterator, List, Set, Tuple

import pytest
from mistralai.client import Mistral

from mistral_knowledge import KnowledgeClient
from mistral_knowledge.fake_api import api as fake_api

from .differences import ABSENT, DIFFERENCES
from .operations import KEY, OPERATIONS, Operation, new_api, world_in
from .recording import Exchange, Sent, as_sent, recorded

# Deprecated twins, helpers around another method, and what is no operation.
NOT_OPERATIONS = {
    "chat.parse",
    "chat.parse_stream",
    "documents.libraries_documents_update_v1",
    "libraries.libraries_update_v1",
}
# Deprecated, and sent by neither; and the target of signed URLs, which anyone opens.
NOT_ASKED = {
    ("PUT", "/v1/libraries/{library_id}"),
    ("PUT", "/v1/libraries/{library_id}/documents/{document_id}"),
}
SIGNED = "{kind}/{thing_id}"

each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)


@pytest.fixture(autouse=True, scope="module")
def _no_tables_of_the_machine() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mimetypes, "knownfiles", [])
        mimetypes.init()
        yield
    mimetypes.init()


@functools.lru_cache(maxsize=None)
def asked_by_them(operation: Operation) -> Tuple[Exchange, ...]:
    with recorded(new_api()) as (recorder, url):
        world = world_in(recorder.api)
        with Mistral(api_key=KEY, server_url=url) as official:
            operation.theirs(official, world)
        return tuple(recorder.exchanges)


@functools.lru_cache(maxsize=None)
def asked_by_us(operation: Operation) -> Tuple[Exchange, ...]:
    with recorded(new_api()) as (recorder, url):
        world = world_in(recorder.api)
        with KnowledgeClient(KEY, base_url=url) as client:
            operation.ours(client, world)
        return tuple(recorder.exchanges)


def different(theirs: List[Sent], ours: List[Sent]) -> Set[Tuple[str, str, str]]:
    """(field, theirs, ours) of what is not the same in requests that follow one another."""
    assert len(theirs) == len(ours)
    return {
        (name, repr(one.get(name, ABSENT)), repr(other.get(name, ABSENT)))
        for one, other in zip(theirs, ours)
        for name in {**one, **other}
        if one.get(name, ABSENT) != other.get(name, ABSENT)
    }


def listed(operation: Operation) -> Set[Tuple[str, str, str]]:
    return {
        (one.field, repr(one.theirs), repr(one.ours))
        for one in DIFFERENCES
        if operation.name in one.operations
    }


@each_operation
def test_the_official_sdk_gets_through_every_operation(operation: Operation) -> None:
    exchanges = asked_by_them(operation)
    assert [one.status // 100 for one in exchanges] == [2] * len(exchanges)
    assert exchanges


@each_operation
def test_our_requests_differ_from_the_official_ones_as_listed_and_nowhere_else(
    operation: Operation,
) -> None:
    theirs, ours = as_sent(asked_by_them(operation)), as_sent(asked_by_us(operation))
    assert different(theirs, ours) == listed(operation)


def test_every_listed_difference_is_of_an_operation_that_is_there() -> None:
    names = {operation.name for operation in OPERATIONS}
    assert {name for one in DIFFERENCES for name in one.operations} - names == set()


def test_the_operations_are_all_that_the_official_sdk_has_in_these_rooms() -> None:
    with Mistral(api_key=KEY) as official:
        beta = official.beta
        rooms = {
            "files": official.files,
            "libraries": beta.libraries,
            "documents": beta.libraries.documents,
            "accesses": beta.libraries.accesses,
            "chat": official.chat,
            "conversations": beta.conversations,
        }
        methods = {
            f"{room}.{name}"
            for room, thing in rooms.items()
            for name, method in inspect.getmembers(thing, inspect.ismethod)
            if not name.startswith(("_", "do_")) and not name.endswith("_async")
        }
    assert methods - NOT_OPERATIONS == {one.name.split()[0] for one in OPERATIONS}


@pytest.mark.parametrize("asked", [asked_by_them, asked_by_us])
def test_the_operations_reach_every_route_of_the_in_memory_api(asked: Any) -> None:
    reached = {
        (one.request.method, template)
        for operation in OPERATIONS
        for one in asked(operation)
        for template, pattern in _patterns().items()
        if pattern.fullmatch(one.request.path)
    }
    assert _routes() - reached == NOT_ASKED


def _patterns() -> Dict[str, Any]:
    return {path: pattern for path, (pattern, _) in fake_api._ROUTER._paths.items()}


def _routes() -> Set[Tuple[str, str]]:
    return {
        (method, path)
        for path, (_, methods) in fake_api._ROUTER._paths.items()
        if not path.endswith(SIGNED)
        for method in methods
    }
