"""Libraries: what goes out and what comes back, over exact replies and over the in-memory API."""

from __future__ import annotations

import datetime
import uuid
from typing import Any, List

import pytest

from mistral_knowledge import (
    Document,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    Library,
    NotFoundError,
    ServerError,
    Share,
    UnexpectedResponseError,
)
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.transports.fake import Scripted

from .wire import EVIL_IDS, ID, OTHER, answering, queries, records, scripted, sent

WIRE = {
    "id": ID,
    "name": "Notes",
    "description": "mine",
    "nb_documents": 2,
    "total_size": 30,
    "owner_id": OTHER,
    "owner_type": "User",
    "created_at": "2025-01-02T03:04:05.123456Z",
    "updated_at": "2025-01-02T03:04:05Z",
    "chunk_size": None,
    "emoji": "x",
}
AT = datetime.datetime(2025, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)


def ids(items: Any) -> List[str]:
    return [item.id for item in items]


# create, get, update, delete


def test_create_sends_only_what_was_given() -> None:
    client = answering(WIRE, WIRE, status=201)
    client.libraries.create("Notes")
    client.libraries.create("Notes", description="mine", owner_type="Workspace")
    assert sent(client) == [("POST", "/v1/libraries")] * 2
    assert [record.json for record in records(client)] == [
        {"name": "Notes"},
        {"name": "Notes", "description": "mine", "owner_type": "Workspace"},
    ]


@pytest.mark.parametrize("status", [200, 201])
def test_a_library_has_typed_fields_and_keeps_the_unknown_ones(status: int) -> None:
    library = answering(WIRE, status=status).libraries.create("Notes")
    assert library == Library(
        id=ID,
        name="Notes",
        description="mine",
        nb_documents=2,
        total_size=30,
        owner_id=OTHER,
        owner_type="User",
        created_at=AT.replace(microsecond=123456),
        updated_at=AT,
    )
    assert library.raw == WIRE
    assert library.log_fields() == {"library_id": ID, "nb_documents": 2}


@pytest.mark.parametrize("payload", [{"id": ID}, {**dict.fromkeys(WIRE), "id": ID}])
def test_missing_and_null_fields_break_nothing(payload: Any) -> None:
    assert answering(payload).libraries.get(ID) == Library(id=ID)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-01-02T03:04:05.5Z", AT.replace(microsecond=500000)),
        ("2025-01-02T03:04:05.123456789+00:00", AT.replace(microsecond=123456)),
        ("2025-01-02T03:04:05.1234", AT.replace(microsecond=123400)),
        ("2025-01-02T05:04:05+02:00", AT),
        ("2025-01-02 03:04:05z", AT),
        (1735787045, AT),
        ("1735787045", AT),
        (1735787045.5, AT.replace(microsecond=500000)),
        ("soon", None),
        ("", None),
        (True, None),
        ([], None),
        (1e300, None),
        (float("1e20"), None),
    ],
)
def test_times_are_read_in_every_form_and_garbage_is_none(text: Any, moment: Any) -> None:
    created = answering({"id": ID, "created_at": text}).libraries.get(ID).created_at
    assert created == moment
    assert created is None or created.tzinfo is not None


@pytest.mark.parametrize(
    ("sent_value", "read"), [(5, 5), ("5", 5), (5.0, 5), (None, None), ("x", None), ([], None)]
)
def test_numbers_are_read_with_tolerance(sent_value: Any, read: Any) -> None:
    payload = {"id": ID, "nb_documents": sent_value}
    assert answering(payload).libraries.get(ID).nb_documents == read


@pytest.mark.parametrize("name", ["", "  ", None, 5, b"x"])
@pytest.mark.parametrize("method", ["create", "find", "get_or_create"])
def test_a_library_needs_a_name_before_any_request(method: str, name: Any) -> None:
    client = answering()
    with pytest.raises(InvalidArgumentError, match="needs a name"):
        getattr(client.libraries, method)(name)
    assert sent(client) == []


@pytest.mark.parametrize("named", [ID, uuid.UUID(ID), Library(id=ID)])
def test_a_library_is_named_by_itself_or_its_id(named: Any) -> None:
    share = {"library_id": ID, "role": "Viewer"}
    client = answering(WIRE, WIRE, WIRE, {"data": [share]}, share, share)
    client.libraries.get(named)
    client.libraries.update(named, name="New")
    client.libraries.delete(named)
    client.libraries.shares(named)
    client.libraries.share(named, OTHER)
    client.libraries.unshare(named, OTHER)
    path = f"/v1/libraries/{ID}"
    assert sent(client) == [
        ("GET", path),
        ("PATCH", path),
        ("DELETE", path),
        ("GET", f"{path}/share"),
        ("PUT", f"{path}/share"),
        ("DELETE", f"{path}/share"),
    ]


@pytest.mark.parametrize("evil", [*EVIL_IDS, Document(id=ID)])
def test_what_is_no_id_of_a_library_is_refused_before_any_request(evil: Any) -> None:
    client = answering()
    libraries = client.libraries
    for act in (
        lambda: libraries.get(evil),
        lambda: libraries.update(evil, name="x"),
        lambda: libraries.delete(evil),
        lambda: libraries.shares(evil),
        lambda: libraries.share(evil, ID),
        lambda: libraries.unshare(evil, ID),
        lambda: client.documents.list(evil),
        lambda: client.documents.upload(evil, ("a", b"")),
        lambda: client.rag.query("?", libraries=[evil]),
    ):
        with pytest.raises(InvalidArgumentError):
            act()
    assert sent(client) == []


@pytest.mark.parametrize(
    ("given", "body"),
    [
        ({"name": "New"}, {"name": "New"}),
        ({"description": ""}, {"description": ""}),
        ({"name": "New", "description": "d"}, {"name": "New", "description": "d"}),
    ],
)
def test_update_sends_only_what_changes(given: Any, body: Any) -> None:
    client = answering(WIRE)
    client.libraries.update(ID, **given)
    assert records(client)[0].json == body


def test_an_update_of_nothing_is_refused_before_any_request() -> None:
    client = answering()
    with pytest.raises(InvalidArgumentError, match="nothing to update"):
        client.libraries.update(ID)
    assert sent(client) == []


@pytest.mark.parametrize("reply", [Scripted(204), Scripted(200, json=WIRE)])
def test_deletes_take_todays_reply_and_the_announced_one(reply: Scripted) -> None:
    client = scripted(reply, reply)
    client.libraries.delete(ID)
    client.libraries.unshare(ID, OTHER)


# share


def test_sharing_sends_who_and_how() -> None:
    reply = {"library_id": ID, "share_with_uuid": OTHER, "share_with_type": "User", "role": "x"}
    client = answering(reply, reply)
    share = client.libraries.share(ID, OTHER)
    client.libraries.share(ID, uuid.UUID(OTHER), level="Editor", share_with_type="Org", org_id=ID)
    assert [record.json for record in records(client)] == [
        {"level": "Viewer", "share_with_uuid": OTHER, "share_with_type": "User"},
        {"level": "Editor", "share_with_uuid": OTHER, "share_with_type": "Org", "org_id": ID},
    ]
    assert share == Share(ID, OTHER, "User", "x")
    assert share.raw == reply
    assert share.log_fields() == {"library_id": ID, "role": "x"}


def test_ending_a_share_is_a_delete_with_a_body() -> None:
    client = scripted(Scripted(204))
    client.libraries.unshare(ID, OTHER, share_with_type="Workspace")
    assert (records(client)[0].method, records(client)[0].json) == (
        "DELETE",
        {"share_with_uuid": OTHER, "share_with_type": "Workspace"},
    )


@pytest.mark.parametrize(
    ("payload", "count"),
    [({"data": []}, 0), ({"data": None}, 0), ({"data": [{"library_id": ID}] * 2}, 2)],
)
def test_shares_are_a_plain_list(payload: Any, count: int) -> None:
    assert answering(payload).libraries.shares(ID) == [Share(ID)] * count


# list


def page(*names: str, **fields: Any) -> Any:
    return {"data": [{"id": name, "name": name} for name in names], **fields}


ALWAYS_MORE = {"pagination": {"has_more": True}}


def test_the_first_page_is_asked_for_without_page_or_token() -> None:
    client = answering(page("a"))
    assert ids(client.libraries.list(search="a b", page_size=7)) == ["a"]
    assert sent(client) == [("GET", "/v1/libraries")]
    assert queries(client) == [[("page_size", "7"), ("search", "a b")]]


def test_tokens_lead_from_page_to_page_without_page_numbers() -> None:
    client = answering(
        page("a", next_page_token="t/1="), page("b", next_page_token="t2"), page("c")
    )
    assert ids(client.libraries.list()) == ["a", "b", "c"]
    assert queries(client) == [
        [("page_size", "100")],
        [("page_size", "100"), ("page_token", "t/1=")],
        [("page_size", "100"), ("page_token", "t2")],
    ]


def test_a_server_that_knows_only_numbered_pages_is_read_by_numbers() -> None:
    more, last = {"has_more": True}, {"has_more": False}
    client = answering(
        page("a", pagination=more), page("b", pagination=more), page("c", pagination=last)
    )
    assert ids(client.libraries.list()) == ["a", "b", "c"]
    assert queries(client)[1:] == [
        [("page_size", "100"), ("page", "1")],
        [("page_size", "100"), ("page", "2")],
    ]


def test_a_token_that_is_a_number_is_a_token_all_the_same() -> None:
    client = answering(page("a", next_page_token=17), page("b"))
    assert ids(client.libraries.list()) == ["a", "b"]
    assert queries(client)[1] == [("page_size", "100"), ("page_token", "17")]


@pytest.mark.parametrize("token", [None, "", [], {}, 0, False])
def test_what_is_no_token_ends_the_list(token: Any) -> None:
    client = answering(page("a", next_page_token=token))
    assert ids(client.libraries.list()) == ["a"]


def test_the_token_counts_where_a_page_has_both() -> None:
    both = page("a", next_page_token="t", pagination={"has_more": True})
    client = answering(both, page("b", pagination={"has_more": True}))
    assert ids(client.libraries.list()) == ["a", "b"]


@pytest.mark.parametrize(
    "pages",
    [
        [page("a", next_page_token="t"), page("b", next_page_token="t")],  # a token that repeats
        [page("a", "b", next_page_token="t"), page("a", "b", next_page_token="u")],  # same page
        [page("a", "b", next_page_token="t"), page(next_page_token="u")],  # an empty page
        [page("a", **ALWAYS_MORE), page("b", **ALWAYS_MORE), page("b", **ALWAYS_MORE)],
        [page("a", "b", pagination=["odd"])],
        [page("a", "b", pagination=None)],
        [[{"id": "a"}, {"id": "b"}]],
    ],
)
def test_a_list_ends_on_a_strange_server(pages: List[Any]) -> None:
    client = answering(*pages)
    assert ids(client.libraries.list()) == ["a", "b"]


def test_a_list_of_another_shape_is_an_error() -> None:
    with pytest.raises(UnexpectedResponseError):
        list(answering({"data": "none"}).libraries.list())


# find, get_or_create


def named(name: str, one_id: str, created_at: Any = None) -> Any:
    return {"id": one_id, "name": name, "created_at": created_at}


def test_find_wants_the_exact_name() -> None:
    client = answering({"data": [named("Notes 2", "x"), named("notes", "y"), named("Notes", "z")]})
    found = client.libraries.find("Notes")
    assert found is not None
    assert found.id == "z"
    assert queries(client) == [[("page_size", "100"), ("search", "Notes")]]


def test_find_gives_the_oldest_of_several_and_those_without_a_date_last() -> None:
    data = [named("N", "undated"), named("N", "new", "2025-02-01T00:00:00Z")]
    data += [named("N", "old", "2025-01-01T00:00:00Z"), named("N", "undated too")]
    found = answering({"data": data}).libraries.find("N")
    assert found is not None
    assert found.id == "old"


def test_find_is_none_where_there_is_none() -> None:
    assert answering({"data": []}).libraries.find("Notes") is None


def test_get_or_create_makes_a_library_only_where_there_is_none() -> None:
    client = scripted(
        Scripted(json={"data": []}),
        Scripted(201, json=WIRE),
        Scripted(json={"data": [WIRE]}),
    )
    made = client.libraries.get_or_create("Notes", description="mine")
    found = client.libraries.get_or_create("Notes", description="other")
    assert made == found
    assert sent(client) == [
        ("GET", "/v1/libraries"),
        ("POST", "/v1/libraries"),
        ("GET", "/v1/libraries"),
    ]
    assert records(client)[1].json == {"name": "Notes", "description": "mine"}


# the in-memory API


@pytest.mark.parametrize("announced_204", [False, True])
def test_a_library_lives_its_whole_life(announced_204: bool) -> None:
    with KnowledgeApi(announced_204=announced_204) as api:
        client = KnowledgeClient(transport=FakeTransport(api))
        library = client.libraries.create("Notes", description="d")
        assert client.libraries.get(library).name == "Notes"
        assert client.libraries.update(library, name="New").name == "New"
        assert client.libraries.get_or_create("New") == client.libraries.get(library)
        client.libraries.share(library, OTHER, level="Editor")
        shares = client.libraries.shares(library)
        assert OTHER in [share.share_with_uuid for share in shares]
        client.libraries.unshare(library, OTHER)
        assert OTHER not in [share.share_with_uuid for share in client.libraries.shares(library)]
        client.libraries.delete(library)
        with pytest.raises(NotFoundError):
            client.libraries.get(library)


def test_all_pages_of_many_libraries_come_once(
    client: KnowledgeClient, fake: FakeTransport
) -> None:
    made = [client.libraries.create(f"Library {number}") for number in range(7)]
    fake.requests.clear()
    assert sorted(ids(client.libraries.list(page_size=3))) == sorted(ids(made))
    assert len(fake.requests) == 3
    assert client.libraries.find("Library 5") == client.libraries.get(made[5])


def test_an_error_in_the_middle_of_a_list_does_not_end_it():
    pages = [
        Scripted(json={"data": [{"id": "a"}], "next_page_token": "t"}),
        Scripted(500),
        Scripted(json={"data": [{"id": "b"}]}),
    ]
    listing = KnowledgeClient(transport=FakeTransport(script=pages), retries=0).libraries.list()
    assert next(listing).id == "a"
    with pytest.raises(ServerError):
        next(listing)
    assert [library.id for library in listing] == ["b"]


def test_characters_that_no_utf8_has_go_out_all_the_same():
    replies = [
        Scripted(json={"data": [{"id": "a"}], "next_page_token": "\ud800"}),
        Scripted(json={"data": [{"id": "b"}]}),
    ]
    fake = FakeTransport(script=replies)
    listing = KnowledgeClient(transport=fake, retries=0).libraries.list(search="\udfff")
    assert [library.id for library in listing] == ["a", "b"]
    assert "page_token=%ED%A0%80" in fake.requests[1].query
