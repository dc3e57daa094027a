"""What every endpoint has in common: 401, 404, 405, 422, request ids."""

import pytest

from mistral_knowledge.fake_api import ApiRequest, KnowledgeApi

from .asking import NOWHERE, Asker, issues


def test_an_unknown_path_is_404(ask):
    assert ask.reply("GET", "/v1/nothing").status == 404
    assert ask("GET", "/v1/nothing") == {"detail": "Not Found"}


def test_a_known_path_with_another_method_is_405(ask):
    assert ask.status("PATCH", "/v1/files") == 405


@pytest.mark.parametrize(
    "path", [f"/v1/files/{NOWHERE}", f"/v1/libraries/{NOWHERE}", f"/v1/libraries/{NOWHERE}/share"]
)
def test_what_is_not_there_is_404_with_a_detail(ask, path):
    assert ask.status("GET", path) == 404
    assert list(ask("GET", path)) == ["detail"]


def test_an_id_that_is_no_uuid_is_422(ask):
    assert ask.status("GET", "/v1/libraries/x") == 422
    assert issues(ask("GET", "/v1/libraries/x")) == [(["path", "library_id"], "uuid_parsing")]


def test_no_key_is_asked_for_unless_one_was_configured(ask):
    assert ask.status("GET", "/v1/files") == 200


def test_with_a_key_every_request_needs_it():
    with KnowledgeApi(api_key="k-1") as api:
        ask = Asker(api)
        expected = [401, 401, 200]
        keys = [{}, {"authorization": "Bearer no"}, {"authorization": "Bearer k-1"}]
        assert [ask.status("GET", "/v1/files", headers=headers) for headers in keys] == expected
        assert ask("GET", "/v1/files") == {"detail": "Unauthorized"}


def test_every_reply_has_an_id_of_its_own(ask):
    first, second = ask.reply("GET", "/v1/files"), ask.reply("GET", "/v1/nothing")
    ids = {reply.headers["mistral-correlation-id"] for reply in (first, second)}
    assert len(ids) == 2


def test_a_body_that_is_no_json_is_422(ask):
    reply = ask("POST", "/v1/libraries", body=b"{")
    assert issues(reply) == [(["body", 0], "json_invalid")]


def test_halves_of_characters_in_json_do_no_harm(ask):
    assert ask("POST", "/v1/libraries", body=b'{"name":"a\\ud800b"}')["name"] == "a?b"


def test_numbers_beyond_all_bounds_are_422(ask):
    assert ask.status("GET", "/v1/files?page=99999999999999999999") == 422


def test_nothing_of_a_request_but_method_and_path_is_in_its_repr():
    request = ApiRequest("POST", "/v1/x", "q=1", {"authorization": "Bearer k"}, b"body")
    assert repr(request) == "ApiRequest(method='POST', path='/v1/x')"


def test_a_dropped_api_leaves_no_open_database():
    KnowledgeApi()  # a ResourceWarning would fail the test


def test_a_file_keeps_everything_over_a_restart(tmp_path):
    path = str(tmp_path / "api.db")
    with KnowledgeApi(path) as api:
        library = Asker(api).library("kept")
        Asker(api).ready(library, "a.txt", b"Penguins swim well.")
        link = Asker(api)("GET", f"{library}/documents")["data"][0]["id"]
        signed = Asker(api)("GET", f"{library}/documents/{link}/signed-url")
    with KnowledgeApi(path) as api:
        ask = Asker(api)
        assert ask("GET", library)["name"] == "kept"
        assert "Penguins swim well." in ask.text(library, "Do penguins swim?")
        assert ask.reply("GET", signed).body() == b"Penguins swim well."
