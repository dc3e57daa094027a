"""/v1/libraries/{id}/documents as wire.md 1.3 describes them."""

import json

import pytest

from mistral_knowledge.fake_api import KnowledgeApi

from .asking import FEES, MULTIPART, NOWHERE, Asker, multipart

SHOWN = {
    "id",
    "library_id",
    "hash",
    "mime_type",
    "extension",
    "size",
    "name",
    "created_at",
    "process_status",
    "uploaded_by_id",
    "uploaded_by_type",
    "processing_status",
    "tokens_processing_total",
    "summary",
    "last_processed_at",
    "number_of_pages",
    "tokens_processing_main_content",
    "tokens_processing_summary",
    "url",
    "attributes",
    "expires_at",
}


def test_a_new_document_is_201_with_every_field(ask):
    body = multipart("fees.md", FEES)
    reply = ask.reply("POST", f"{ask.library()}/documents", body=body, headers=MULTIPART)
    document = json.loads(reply.body())
    assert (reply.status, set(document)) == (201, SHOWN)
    facts = ("name", "extension", "mime_type", "size", "process_status", "processing_status")
    expected = ["fees.md", "md", "text/markdown", len(FEES), "todo", "Running"]
    assert [document[name] for name in facts] == expected


def test_the_same_content_again_is_200_with_the_document_that_is_there(ask):
    library = ask.library()
    first = ask.upload(library, "a.txt", b"same")
    reply = ask.reply(
        "POST", f"{library}/documents", body=multipart("b.txt", b"same"), headers=MULTIPART
    )
    assert (reply.status, json.loads(reply.body())) == (200, first)
    assert ask("GET", library)["nb_documents"] == 1
    assert ask.upload(ask.library(), "a.txt", b"same")["id"] != first["id"]


def test_processing_moves_on_as_it_is_looked_at(ask):
    library = ask.library()
    path = f"{library}/documents/{ask.upload(library, 'a.txt', b'hello')['id']}"
    looks = [f"{path}/status", path, f"{path}/status"]
    statuses = [ask("GET", look)["process_status"] for look in looks]
    assert statuses == ["in_progress", "done", "done"]
    assert ask("GET", f"{path}/status") == {
        "document_id": path.rpartition("/")[2],
        "process_status": "done",
        "processing_status": "Completed",
    }


@pytest.mark.parametrize(
    ("polls", "expected"),
    [(0, ["done", "done"]), (1, ["todo", "in_progress"]), (2, ["todo", "in_progress"])],
)
def test_how_long_processing_takes_can_be_chosen(polls, expected):
    with KnowledgeApi(polls_until_done=polls) as api:
        ask = Asker(api)
        library = ask.library()
        document = ask.upload(library, "a.txt", b"hello")
        path = f"{library}/documents/{document['id']}/status"
        assert [document["process_status"], ask("GET", path)["process_status"]] == expected
        for _ in range(polls):
            last = ask("GET", path)["process_status"]
        assert polls == 0 or last == "done"


def test_what_processing_finds_out_is_shown_once_it_is_done(ask):
    library = ask.library()
    before = ask.upload(library, "fees.md", FEES)
    after = ask.ready(library, "fees.md", FEES)
    assert (before["summary"], before["number_of_pages"]) == (None, None)
    assert after["summary"].startswith("# Fees The entry fee")
    assert (after["number_of_pages"], after["tokens_processing_main_content"]) == (1, 17)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.bin", b"\x00\x01\x02", "error"),
        ("a.json", b"{", "error"),
        ("a.pdf", b"%PDF-1.4 nonsense", "error"),
        ("empty.txt", b"", "missing_content"),
        ("old.txt", b"caf\xe9", "done"),
    ],
)
def test_what_cannot_be_read_ends_in_error(ask, name, content, expected):
    assert ask.ready(ask.library(), name, content)["process_status"] == expected


def test_reprocess_is_204_and_starts_again(ask, museum):
    path = f"{museum}/documents/{ask('GET', f'{museum}/documents')['data'][0]['id']}"
    assert ask.reply("POST", f"{path}/reprocess").status == 204
    assert ask("GET", f"{museum}/documents")["data"][0]["process_status"] == "todo"
    assert [ask("GET", path)["process_status"] for _ in range(2)] == ["in_progress", "done"]


def test_lists_are_sorted_searched_and_paged(ask):
    library = ask.library()
    for name in ("b.txt", "a.txt", "c.md"):
        ask.upload(library, name, name.encode() * (3 if name == "a.txt" else 1))

    def listed(query):
        reply = ask("GET", f"{library}/documents?{query}")
        return [document["name"] for document in reply["data"]]

    assert listed("") == ["c.md", "a.txt", "b.txt"]
    assert listed("sort_order=asc") == ["b.txt", "a.txt", "c.md"]
    assert listed("sort_by=name&sort_order=asc") == ["a.txt", "b.txt", "c.md"]
    assert listed("sort_by=size")[0] == "a.txt"
    assert listed("search=TXT&sort_by=name") == ["b.txt", "a.txt"]
    assert listed("page=1&page_size=2") == ["b.txt"]
    info = ask("GET", f"{library}/documents?page=0&page_size=2")["pagination"]
    assert (info["total_items"], info["total_pages"], info["has_more"]) == (3, 2, True)


@pytest.mark.parametrize("query", ["sort_by=blob_id", "sort_order=up", "filters_attributes=x"])
def test_a_list_that_cannot_be_made_is_422(ask, museum, query):
    assert ask.status("GET", f"{museum}/documents?{query}") == 422


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_name_attributes_and_end_can_be_changed(ask, museum, method):
    path = f"{museum}/documents/{ask('GET', f'{museum}/documents')['data'][0]['id']}"
    changes = {
        "name": "new.md",
        "attributes": {"year": 2024, "tags": ["a", "b"], "open": True},
        "expires_at": "2030-01-01T00:00:00Z",
    }
    changed = ask(method, path, changes)
    assert {name: changed[name] for name in changes} == changes
    assert ask(method, path, {"attributes": None})["attributes"] is None
    assert ask(method, path, {"attributes": {"x": {"deep": 1}}})["detail"][0]["loc"][-1] == "x"


def test_attributes_narrow_the_list(ask, museum):
    other = ask.upload(museum, "other.txt", b"other")
    ask("PATCH", f"{museum}/documents/{other['id']}", {"attributes": {"year": 2024, "t": ["a"]}})
    found = ask("GET", f'{museum}/documents?filters_attributes={{"year":2024}}')
    assert [document["name"] for document in found["data"]] == ["other.txt"]
    assert found["pagination"]["total_items"] == 1


def test_delete_is_204_and_takes_its_passages_along(ask, museum):
    path = f"{museum}/documents/{ask('GET', f'{museum}/documents')['data'][0]['id']}"
    assert (ask.reply("DELETE", path).status, ask.status("GET", path)) == (204, 404)
    assert "No passage" in ask.text(museum, "What is the fee?")


def test_a_document_of_another_library_is_404(ask, museum):
    document = ask("GET", f"{museum}/documents")["data"][0]["id"]
    other = ask.library()
    assert ask.status("GET", f"{other}/documents/{document}") == 404
    assert ask.status("GET", f"{museum}/documents/{NOWHERE}/status") == 404


def test_signed_urls_are_bare_json_strings_that_can_be_fetched(ask, museum):
    path = f"{museum}/documents/{ask('GET', f'{museum}/documents')['data'][0]['id']}"
    original = ask("GET", f"{path}/signed-url")
    text = ask("GET", f"{path}/extracted-text-signed-url")
    assert ask.reply("GET", original).body() == FEES
    assert ask.reply("GET", text).body() == FEES
    assert ask.status("GET", original.replace("/original/", "/text/")) == 403


def test_text_is_there_once_processing_is_done(ask):
    library = ask.library()
    path = f"{library}/documents/{ask.upload(library, 'a.txt', b'hello')['id']}"
    assert ask.status("GET", f"{path}/text_content") == 404
    for _ in range(2):
        ask("GET", path)
    assert ask("GET", f"{path}/text_content") == {"text": "hello"}
    assert ask("GET", f"{path}/text_content?page_start=2") == {"text": ""}
