"""/v1/libraries and their shares as wire.md 1.2 and 1.4 describe them."""

import pytest

from mistral_knowledge.fake_api import KnowledgeApi

from .asking import NOWHERE, Asker, issues

FRIEND = "22222222-2222-4222-8222-222222222222"


def names(reply):
    return [library["name"] for library in reply["data"]]


def test_create_is_201_with_the_whole_library_object(ask):
    body = {"name": "A", "description": "d", "owner_type": "Workspace", "chunk_size": 512}
    assert ask.status("POST", "/v1/libraries", body) == 201
    library = ask("POST", "/v1/libraries", body)
    expected = {
        "name": "A",
        "description": "d",
        "owner_type": "Workspace",
        "chunk_size": 512,
        "total_size": 0,
        "nb_documents": 0,
        "emoji": None,
        "generated_name": None,
        "generated_description": None,
        "explicit_user_members_count": None,
        "explicit_workspace_members_count": None,
        "org_sharing_role": None,
    }
    assert {name: library[name] for name in expected} == expected
    assert {"id", "created_at", "updated_at", "owner_id"} == set(library) - set(expected)
    assert library["created_at"].endswith("Z")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, [(["body", "name"], "missing")]),
        ({"name": None}, [(["body", "name"], "string_type")]),
        ({"name": "a", "chunk_size": 1}, [(["body", "chunk_size"], "greater_than_equal")]),
        ({"name": "a", "owner_type": "Me"}, [(["body", "owner_type"], "enum")]),
        ([], [(["body"], "model_attributes_type")]),
    ],
)
def test_a_body_that_does_not_fit_is_422(ask, body, expected):
    assert issues(ask("POST", "/v1/libraries", body)) == expected


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_a_change_leaves_what_it_does_not_name(ask, method):
    path = ask.library("A")
    changed = ask(method, path, {"description": "new"})
    assert (changed["name"], changed["description"]) == ("A", "new")
    assert ask(method, path, {"name": "B", "description": None})["description"] is None


def test_token_pages_go_on_until_there_is_no_token(ask):
    for name in "abcde":
        ask.library(name)
    first = ask("GET", "/v1/libraries?page_size=2")
    second = ask("GET", f"/v1/libraries?page_size=2&page_token={first['next_page_token']}")
    third = ask("GET", f"/v1/libraries?page_size=2&page_token={second['next_page_token']}")
    assert [names(page) for page in (first, second, third)] == [["e", "d"], ["c", "b"], ["a"]]
    assert third["next_page_token"] is None


def test_a_library_that_goes_between_two_pages_costs_no_other_one(ask):
    for name in "abcd":
        ask.library(name)
    first = ask("GET", "/v1/libraries?page_size=2")
    ask("DELETE", f"/v1/libraries/{first['data'][0]['id']}")
    token = first["next_page_token"]
    assert names(ask("GET", f"/v1/libraries?page_size=2&page_token={token}")) == ["b", "a"]


def test_pagination_is_only_for_callers_that_use_page(ask):
    for name in "abc":
        ask.library(name)
    numbered = ask("GET", "/v1/libraries?page=1&page_size=2")
    expected = {
        "total_items": 3,
        "total_pages": 2,
        "current_page": 1,
        "page_size": 2,
        "has_more": False,
    }
    assert (numbered["pagination"], names(numbered)) == (expected, ["a"])
    assert "pagination" not in ask("GET", "/v1/libraries")


def test_a_token_beats_a_page_number(ask):
    for name in "abc":
        ask.library(name)
    token = ask("GET", "/v1/libraries?page_size=1")["next_page_token"]
    page = ask("GET", f"/v1/libraries?page_size=1&page_token={token}&page=0")
    assert ("pagination" in page, names(page)) == (False, ["b"])


@pytest.mark.parametrize("query", ["page_token=x", "page_size=0", "page_size=101", "page=-1"])
def test_a_page_that_does_not_fit_is_422(ask, query):
    assert ask.status("GET", f"/v1/libraries?{query}") == 422


def test_search_finds_names_without_regard_to_case(ask):
    for name in ("Physics papers", "Cooking", "100% sure"):
        ask.library(name)
    assert names(ask("GET", "/v1/libraries?search=PHYS")) == ["Physics papers"]
    assert names(ask("GET", "/v1/libraries?search=0%25")) == ["100% sure"]
    assert names(ask("GET", "/v1/libraries?search=" + "x" * 60_000)) == []


def test_delete_takes_the_documents_along(ask, museum):
    document = ask("GET", f"{museum}/documents")["data"][0]
    gone = ask("DELETE", museum)
    assert (gone["nb_documents"], gone["total_size"]) == (1, document["size"])
    assert ask.status("GET", museum) == 404
    tables = ("documents", "pages", "passages", "passage_words", "pieces")
    counts = [ask.api._parts.store.number(f"SELECT count(*) FROM {table}") for table in tables]
    assert counts == [0] * 5


def test_deletes_answer_204_once_that_is_announced():
    with KnowledgeApi(announced_204=True) as api:
        ask = Asker(api)
        path = ask.library()
        share = {"share_with_uuid": FRIEND, "share_with_type": "User"}
        ask("PUT", f"{path}/share", {**share, "level": "Viewer"})
        replies = [ask.reply("DELETE", f"{path}/share", share), ask.reply("DELETE", path)]
        assert [(reply.status, reply.body()) for reply in replies] == [(204, b"")] * 2


def test_sharing_creates_then_changes_then_ends(ask):
    path, share = ask.library(), {"share_with_uuid": FRIEND, "share_with_type": "User"}
    ask("PUT", f"{path}/share", {**share, "level": "Viewer"})
    changed = ask("PUT", f"{path}/share", {**share, "level": "Editor"})
    listed = ask("GET", f"{path}/share")["data"]
    gone = ask("DELETE", f"{path}/share", share)
    assert changed["role"] == "Editor"
    assert listed == [changed] == [gone]
    assert set(changed) == {
        "library_id",
        "user_id",
        "org_id",
        "role",
        "share_with_type",
        "share_with_uuid",
    }
    assert ask("GET", f"{path}/share") == {"data": []}
    assert ask.status("DELETE", f"{path}/share", share) == 404


def test_a_share_that_does_not_fit_is_422(ask):
    body = {"share_with_uuid": "x", "share_with_type": "Cat", "level": "God"}
    found = issues(ask("PUT", f"{ask.library()}/share", body))
    assert [place for place, _ in found] == [["body", name] for name in body]


def test_the_owners_own_access_cannot_be_changed(ask):
    path = ask.library()
    owner = ask("GET", path)["owner_id"]
    body = {"share_with_uuid": owner, "share_with_type": "User", "level": "Viewer"}
    assert ask.status("PUT", f"{path}/share", body) == 403


def test_a_library_that_is_not_there_cannot_be_shared(ask):
    body = {"share_with_uuid": FRIEND, "share_with_type": "User", "level": "Viewer"}
    assert ask.status("PUT", f"/v1/libraries/{NOWHERE}/share", body) == 404
