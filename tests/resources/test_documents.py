"""Documents: what goes out and what comes back, over exact replies and over the in-memory API."""

from __future__ import annotations

import datetime
import pathlib
import pickle
import threading
import time
import uuid
from typing import Any, Dict, List

import pytest

from mistral_knowledge import (
    AbortedError,
    AbortSignal,
    AuthenticationError,
    ConnectionLostError,
    Document,
    DocumentStatus,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    Library,
    NotFoundError,
    ProcessingError,
    ProcessingTimeoutError,
    RequestTimeoutError,
    ServerError,
    SignedUrl,
    UnexpectedResponseError,
)
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.resources import _wait
from mistral_knowledge.transports.fake import Scripted, Stall

from .wire import (
    EVIL_IDS,
    ID,
    OTHER,
    all_closed,
    answering,
    parts,
    queries,
    records,
    scripted,
    sent,
)

WIRE = {
    "id": OTHER,
    "library_id": ID,
    "hash": "abc",
    "mime_type": "application/pdf",
    "extension": "pdf",
    "size": 2048,
    "name": "paper.pdf",
    "created_at": "2025-01-02T03:04:05.000000Z",
    "process_status": "done",
    "processing_status": "Completed",
    "uploaded_by_id": ID,
    "uploaded_by_type": "User",
    "tokens_processing_total": 9,
    "summary": "About the sky",
    "last_processed_at": None,
    "number_of_pages": 3,
    "url": "https://files.example/paper.pdf?sig=s3cr3t",
    "attributes": {"year": 2025},
    "expires_at": "2030-01-01T00:00:00Z",
    "tomorrow": [1],
}
AT = datetime.datetime(2025, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
PATH = f"/v1/libraries/{ID}/documents"
ONE = f"{PATH}/{OTHER}"
PATIENCE = 10.0


def ids(items: Any) -> List[str]:
    return [item.id for item in items]


def document(status: Any = "done", **fields: Any) -> Dict[str, Any]:
    return {"id": OTHER, "library_id": ID, "process_status": status, **fields}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polls follow each other without a pause worth the name."""
    monkeypatch.setattr(_wait, "FIRST_INTERVAL", 0.001)


# the model


def test_a_document_has_typed_fields_and_keeps_the_unknown_ones() -> None:
    got = answering(WIRE).documents.get(ID, OTHER)
    assert got == Document(
        id=OTHER,
        library_id=ID,
        name="paper.pdf",
        mime_type="application/pdf",
        extension="pdf",
        size=2048,
        hash="abc",
        process_status="done",
        processing_status="Completed",
        number_of_pages=3,
        summary="About the sky",
        attributes={"year": 2025},
        tokens_processing_total=9,
        uploaded_by_id=ID,
        uploaded_by_type="User",
        url="https://files.example/paper.pdf?sig=s3cr3t",
        created_at=AT,
        last_processed_at=None,
        expires_at=datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc),
    )
    assert got.raw == WIRE
    assert got.created is None
    assert got.log_fields() == {"library_id": ID, "document_id": OTHER, "status": "done"}


def test_a_document_shows_its_url_without_the_query() -> None:
    shown = repr(answering(WIRE).documents.get(ID, OTHER))
    assert "url='https://files.example/paper.pdf?***'" in shown
    assert "s3cr3t" not in shown


@pytest.mark.parametrize("payload", [{"id": OTHER}, {**dict.fromkeys(WIRE), "id": OTHER}])
def test_missing_and_null_fields_break_nothing_and_the_library_is_known_all_the_same(
    payload: Any,
) -> None:
    assert answering(payload).documents.get(ID, OTHER) == Document(id=OTHER, library_id=ID)
    assert answering(payload, status=201).documents.upload(ID, ("a", b"")).library_id == ID
    assert answering(payload).documents.update(ID, OTHER, name="x").library_id == ID
    listed = list(answering({"data": [payload]}).documents.list(Library(id=ID)))
    assert listed == [Document(id=OTHER, library_id=ID)]
    alone = Document(id=OTHER, library_id=ID)
    assert answering(payload).documents.get(alone).library_id == ID


@pytest.mark.parametrize(
    ("fields", "status", "done", "failed"),
    [
        ({"process_status": "done"}, "done", True, False),
        ({"process_status": "noop"}, "noop", True, False),
        ({"process_status": "self_managed"}, "self_managed", True, False),
        ({"process_status": "error"}, "error", False, True),
        ({"process_status": "missing_content"}, "missing_content", False, True),
        ({"process_status": "todo"}, "todo", False, False),
        ({"process_status": "in_progress"}, "in_progress", False, False),
        ({"process_status": "waiting_for_capacity"}, "waiting_for_capacity", False, False),
        ({"process_status": "from tomorrow"}, "from tomorrow", False, False),
        ({"processing_status": "Completed"}, "done", True, False),
        ({"processing_status": "Running"}, "in_progress", False, False),
        ({"processing_status": "Failed"}, "error", False, True),
        ({"processing_status": "Odd"}, "Odd", False, False),
        ({"process_status": "error", "processing_status": "Completed"}, "error", False, True),
        ({}, None, False, False),
    ],
)
def test_a_status_is_read_from_either_field_and_what_is_unknown_still_runs(
    fields: Any, status: Any, done: bool, failed: bool
) -> None:
    client = answering({"document_id": OTHER, **fields}, {"id": OTHER, **fields})
    for got in (client.documents.status(ID, OTHER), client.documents.get(ID, OTHER)):
        assert (got.status, got.is_done, got.is_failed) == (status, done, failed)


def test_a_status_keeps_what_came() -> None:
    payload = {"document_id": OTHER, "process_status": "done", "extra": 1}
    status = answering(payload).documents.status(ID, OTHER)
    assert status == DocumentStatus(OTHER, "done")
    assert status.raw == payload
    assert status.log_fields() == {"document_id": OTHER, "status": "done"}


@pytest.mark.parametrize("payload", [None, [], "done", 5])
def test_a_status_of_another_shape_is_an_error(payload: Any) -> None:
    with pytest.raises(UnexpectedResponseError, match="expected a DocumentStatus"):
        answering(payload).documents.status(ID, OTHER)


# who is meant


CALLS = {
    "get": ("GET", ONE, document()),
    "status": ("GET", f"{ONE}/status", {"document_id": OTHER}),
    "wait": ("GET", ONE, document()),
    "text": ("GET", f"{ONE}/text_content", {"text": "words"}),
    "signed_url": ("GET", f"{ONE}/signed-url", "https://x.example/a?s=1"),
    "reprocess": ("POST", f"{ONE}/reprocess", None),
    "delete": ("DELETE", ONE, None),
}


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(
    "named",
    [
        (ID, OTHER),
        (uuid.UUID(ID), uuid.UUID(OTHER)),
        (Library(id=ID), Document(id=OTHER)),
        (Library(id=ID), OTHER),
        (Document(id=OTHER, library_id=ID),),
    ],
)
def test_a_document_is_named_by_its_library_and_itself_or_alone(method: str, named: Any) -> None:
    verb, path, payload = CALLS[method]
    client = answering(payload)
    getattr(client.documents, method)(*named)
    assert sent(client) == [(verb, path)]
    assert all_closed(client)


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize("evil", EVIL_IDS[:-1])
def test_what_would_change_the_path_is_refused_before_any_request(method: str, evil: Any) -> None:
    client = answering()
    act = getattr(client.documents, method)
    for named in ((ID, evil), (evil, ID), (Document(id="a/b", library_id=ID),)):
        with pytest.raises(InvalidArgumentError):
            act(*named)
    assert sent(client) == []


@pytest.mark.parametrize("method", CALLS)
def test_a_document_alone_has_to_know_its_library(method: str) -> None:
    client = answering()
    for named in ((Document(id=OTHER),), (OTHER,), (Library(id=ID),)):
        with pytest.raises(InvalidArgumentError):
            getattr(client.documents, method)(*named)
    assert sent(client) == []


# upload


@pytest.mark.parametrize(("status", "created"), [(201, True), (200, False)])
def test_an_upload_says_whether_the_document_is_new(status: int, created: bool) -> None:
    client = answering(WIRE, status=status)
    uploaded = client.documents.upload(ID, ("paper.pdf", b"%PDF"))
    assert (uploaded.id, uploaded.created) == (OTHER, created)
    assert sent(client) == [("POST", PATH)]
    assert parts(client) == [("file", "paper.pdf", "application/pdf", 4)]


def test_an_upload_takes_its_name_type_and_progress(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"abc")
    told: List[Any] = []
    client = answering(WIRE, status=201)
    client.documents.upload(
        ID, path, name="é.md", mime_type="a/b", on_progress=lambda *now: told.append(now)
    )
    assert parts(client) == [("file", "é.md", "a/b", 3)]
    assert told == [(3, 3)]


@pytest.mark.parametrize("wait", [0, -1, 0.0, None, "5m", float("nan")])
def test_a_wait_that_cannot_be_is_refused_before_the_upload(wait: Any) -> None:
    client = answering()
    with pytest.raises(InvalidArgumentError, match="wait="):
        client.documents.upload(ID, ("a", b""), wait=wait)
    assert sent(client) == []


@pytest.mark.parametrize(("status", "created"), [(201, True), (200, False)])
@pytest.mark.parametrize("wait", [True, 5, 2.5])
@pytest.mark.usefixtures("quick")
def test_an_upload_that_waits_returns_the_processed_document(
    wait: Any, status: int, created: bool
) -> None:
    client = scripted(
        Scripted(status, json=document("todo")),
        Scripted(json=document("in_progress")),
        Scripted(json=document("done", number_of_pages=4)),
    )
    done = client.documents.upload(ID, ("a", b""), wait=wait)
    assert (done.status, done.number_of_pages, done.created) == ("done", 4, created)
    assert sent(client) == [("POST", PATH), ("GET", ONE), ("GET", ONE)]


# list


def page(*ids_: str, **fields: Any) -> Any:
    return {"data": [{"id": one} for one in ids_], **fields}


MORE = {"pagination": {"has_more": True}}


def test_a_list_asks_only_for_what_was_asked() -> None:
    client = answering(page("a"), page())
    assert ids(client.documents.list(ID)) == ["a"]
    listing = client.documents.list(
        ID,
        search="s",
        sort_by="name",
        sort_order="asc",
        filters_attributes='{"a":1}',
        page_size=7,
    )
    assert list(listing) == []
    assert sent(client) == [("GET", PATH)] * 2
    assert queries(client) == [
        [("page", "0"), ("page_size", "100")],
        [
            ("page", "0"),
            ("page_size", "7"),
            ("search", "s"),
            ("sort_by", "name"),
            ("sort_order", "asc"),
            ("filters_attributes", '{"a":1}'),
        ],
    ]


def test_page_numbers_lead_on_as_long_as_there_is_more() -> None:
    client = answering(page("a", **MORE), page("b", **MORE), page("c"))
    assert ids(client.documents.list(ID)) == ["a", "b", "c"]
    assert [dict(query)["page"] for query in queries(client)] == ["0", "1", "2"]


def test_ten_thousand_documents_are_listed_once_each_by_a_hundred_requests() -> None:
    names = [f"{number:05}" for number in range(10_000)]
    pages = [page(*names[start : start + 100], **MORE) for start in range(0, 10_000, 100)]
    client = answering(*pages[:-1], {**pages[-1], "pagination": {"has_more": False}})
    assert ids(client.documents.list(ID)) == names
    assert [dict(query)["page"] for query in queries(client)] == [str(one) for one in range(100)]


@pytest.mark.parametrize(
    "pages",
    [
        [page("a", "b", **MORE), page("a", "b", **MORE)],
        [page("a", "b", **MORE), page(**MORE)],
        [page("a", "b", **MORE), {"data": None, **MORE}],
        [page("a", "b", pagination={"has_more": None})],
        [page("a", "b", pagination={})],
        [page("a", "b", pagination="odd")],
        [[{"id": "a"}, {"id": "b"}]],
    ],
)
def test_a_list_ends_on_a_strange_server(pages: List[Any]) -> None:
    assert ids(answering(*pages).documents.list(ID)) == ["a", "b"]


# text, signed_url, update, reprocess, delete


def test_the_text_may_be_asked_for_some_pages() -> None:
    client = answering({"text": "all"}, {"text": ""})
    assert client.documents.text(ID, OTHER) == "all"
    assert client.documents.text(ID, OTHER, page_start=2, page_end=3) == ""
    assert queries(client) == [[], [("page_start", "2"), ("page_end", "3")]]


@pytest.mark.parametrize("payload", [{}, {"text": None}, {"text": 5}, "text", [], None])
def test_a_text_of_another_shape_is_an_error(payload: Any) -> None:
    with pytest.raises(UnexpectedResponseError, match="expected a document's text"):
        answering(payload).documents.text(ID, OTHER)


URL = "https://files.example/a?sig=s3cr3t&exp=9"


@pytest.mark.parametrize(
    "body",
    [
        f'"{URL}"',
        URL,
        f' "{URL}"\r\n',
        f"\n{URL}\n",
        f"\ufeff{URL}",
        '"' + URL.replace("/", "\\/") + '"',
        '"' + URL.replace("&", "\\u0026") + '"',
    ],
)
@pytest.mark.parametrize("extracted", [False, True])
def test_a_signed_url_is_read_bare_or_as_a_json_string(body: str, extracted: bool) -> None:
    client = scripted(Scripted(steps=[body[:7].encode(), body[7:].encode()]))
    url = client.documents.signed_url(ID, OTHER, extracted_text=extracted)
    assert url == SignedUrl(URL)
    kind = "extracted-text-signed-url" if extracted else "signed-url"
    assert sent(client) == [("GET", f"{ONE}/{kind}")]


@pytest.mark.parametrize(
    "body",
    ["", '""', '"', f'"{URL}', f'{{"url":"{URL}"}}', "null", "ftp://x", f"{URL} {URL}", "<html>"],
)
def test_what_is_no_signed_url_is_an_error_that_does_not_show_it(body: str) -> None:
    with pytest.raises(UnexpectedResponseError, match="expected a signed URL") as caught:
        scripted(Scripted(steps=[body.encode()])).documents.signed_url(ID, OTHER)
    assert "s3cr3t" not in str(caught.value)


def test_update_sends_only_what_changes() -> None:
    client = answering(WIRE, WIRE, WIRE)
    client.documents.update(ID, OTHER, name="new.pdf")
    client.documents.update(ID, OTHER, attributes={"at": AT, "tags": ["a", 1, True]})
    client.documents.update(Document(id=OTHER, library_id=ID), expires_at=AT)
    assert sent(client) == [("PATCH", ONE)] * 3
    assert [record.json for record in records(client)] == [
        {"name": "new.pdf"},
        {"attributes": {"at": "2025-01-02T03:04:05Z", "tags": ["a", 1, True]}},
        {"expires_at": "2025-01-02T03:04:05Z"},
    ]


def test_an_update_of_nothing_is_refused_before_any_request() -> None:
    client = answering()
    with pytest.raises(InvalidArgumentError, match="nothing to update"):
        client.documents.update(ID, OTHER)
    assert sent(client) == []


@pytest.mark.parametrize("method", ["reprocess", "delete"])
@pytest.mark.parametrize("reply", [Scripted(204), Scripted(200, json=WIRE), Scripted(200)])
def test_reprocess_and_delete_take_an_empty_reply_and_a_full_one(
    method: str, reply: Scripted
) -> None:
    client = scripted(reply)
    assert getattr(client.documents, method)(ID, OTHER) is None
    assert records(client)[0].body == b""


# wait


@pytest.mark.usefixtures("quick")
def test_wait_tells_each_state_and_ends_with_the_done_one() -> None:
    told: List[Any] = []
    client = answering(document("todo"), document("from tomorrow"), document(None), document())
    done = client.documents.wait(ID, OTHER, on_status=lambda now: told.append(now.status))
    assert told == ["todo", "from tomorrow", None, "done"]
    assert done.is_done


@pytest.mark.parametrize("status", ["error", "missing_content"])
@pytest.mark.usefixtures("quick")
def test_a_failed_document_is_an_error_that_carries_it(status: str) -> None:
    failed = document(status, url=URL, name="a.pdf")
    with pytest.raises(ProcessingError) as caught:
        answering(document("todo"), failed).documents.wait(ID, OTHER)
    error = caught.value
    assert (error.document.status, error.document.name) == (status, "a.pdf")
    assert error.document.raw == failed
    assert "s3cr3t" not in pickle.dumps(error).decode("latin-1")


@pytest.mark.usefixtures("quick")
def test_an_early_404_and_a_few_failures_in_a_row_are_borne() -> None:
    failures = [
        Scripted(404),
        Scripted(404),
        Scripted(429, {"retry-after": "0"}),
        Scripted(raises=ConnectionLostError("lost")),
        Scripted(raises=RequestTimeoutError("late", "idle")),
    ]
    client = scripted(
        *failures, Scripted(json=document("todo")), *failures, Scripted(json=document())
    )
    assert client.documents.wait(ID, OTHER, retries=0).is_done
    assert len(sent(client)) == 12


@pytest.mark.parametrize("status", [404, 500])
@pytest.mark.usefixtures("quick")
def test_too_many_failures_in_a_row_are_an_error(status: int) -> None:
    client = scripted(*[Scripted(status)] * 6)
    with pytest.raises((NotFoundError, ServerError)) as caught:
        client.documents.wait(ID, OTHER, retries=0)
    assert (caught.value.status, len(sent(client))) == (status, 6)


@pytest.mark.usefixtures("quick")
def test_a_failure_that_cannot_pass_ends_the_wait_at_once() -> None:
    client = scripted(Scripted(401))
    with pytest.raises(AuthenticationError):
        client.documents.wait(ID, OTHER)
    assert len(sent(client)) == 1


@pytest.mark.parametrize(
    "script",
    [
        [Scripted(json=document("todo", url=URL)), Scripted(before=[Stall()])],
        [Scripted(json=document("todo", url=URL)), Scripted(steps=[b"{", Stall()])],
        [Scripted(json=document("todo", url=URL)), Scripted(404, steps=[b"{", Stall()])],
        [Scripted(json=document("todo", url=URL)), Scripted(429, {"retry-after": "25"})],
        [Scripted(json=document("todo", url=URL))] * 2000,
    ],
)
@pytest.mark.usefixtures("quick")
def test_the_deadline_holds_whatever_a_poll_does_and_the_error_carries_the_document(
    script: List[Scripted],
) -> None:
    client = scripted(*script)
    began = time.monotonic()
    with pytest.raises(ProcessingTimeoutError) as caught:
        client.documents.wait(ID, OTHER, seconds=0.1)
    assert time.monotonic() - began < 2
    assert str(caught.value) == f"document {OTHER} was not processed within 0.1 s"
    assert caught.value.document.status == "todo"
    assert caught.value.document.url == URL
    assert isinstance(caught.value, TimeoutError)
    assert all_closed(client)


@pytest.mark.usefixtures("quick")
def test_a_deadline_before_the_first_answer_has_no_document() -> None:
    with pytest.raises(ProcessingTimeoutError) as caught:
        scripted(Scripted(before=[Stall()])).documents.wait(ID, OTHER, seconds=0.05)
    assert caught.value.document is None


@pytest.mark.usefixtures("quick")
def test_a_poll_that_hits_its_own_limit_is_borne() -> None:
    client = scripted(Scripted(before=[Stall()]), Scripted(json=document()))
    assert client.documents.wait(ID, OTHER, timeout=0.05).is_done


def test_an_abort_ends_the_wait_also_between_two_polls() -> None:
    signal = AbortSignal()
    client = scripted(Scripted(json=document("todo")))
    began = time.monotonic()

    def stop_soon(_: Document) -> None:
        threading.Timer(0.02, signal.abort, ["enough"]).start()

    with pytest.raises(AbortedError) as caught:
        client.documents.wait(ID, OTHER, signal=signal, on_status=stop_soon)
    assert time.monotonic() - began < 0.4  # the first pause alone is half a second
    assert caught.value.reason == "enough"
    assert signal._callbacks == {}


@pytest.mark.usefixtures("quick")
def test_pauses_grow_from_poll_to_poll_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: List[Any] = []
    monkeypatch.setattr(AbortSignal, "wait", lambda self, seconds: paused.append(seconds))
    monkeypatch.setattr(_wait, "FIRST_INTERVAL", 0.5)
    client = answering(*[document("todo")] * 9, document())
    client.documents.wait(ID, OTHER)
    assert paused == [0.5, 0.75, 1.125, 1.6875, 2.53125, 3.796875, 5.6953125, 8.54296875, 10.0]


@pytest.mark.usefixtures("quick")
def test_a_server_that_asks_for_a_pause_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: List[Any] = []
    monkeypatch.setattr(AbortSignal, "wait", lambda self, seconds: paused.append(seconds))
    client = scripted(Scripted(429, {"retry-after": "7"}), Scripted(json=document()))
    client.documents.wait(ID, OTHER, retries=0)
    assert paused == [7.0]


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_wait_of_no_time_is_refused_before_any_request(seconds: Any) -> None:
    client = answering()
    with pytest.raises(InvalidArgumentError, match="seconds="):
        client.documents.wait(ID, OTHER, seconds=seconds)
    assert sent(client) == []


@pytest.mark.usefixtures("quick")
def test_what_the_callers_on_status_raises_ends_the_wait_as_it_is() -> None:
    error = RuntimeError("mine")

    def fail(_: Document) -> None:
        raise error

    with pytest.raises(RuntimeError) as caught:
        answering(document("todo")).documents.wait(ID, OTHER, on_status=fail)
    assert caught.value is error


# the in-memory API


@pytest.mark.usefixtures("quick")
def test_a_document_lives_its_whole_life() -> None:
    with KnowledgeApi(polls_until_done=2) as api:
        client = KnowledgeClient(transport=FakeTransport(api))
        library = client.libraries.create("Notes")
        text = ("sky.txt", "The sky is blue.")
        first = client.documents.upload(library, text)
        assert (first.created, first.is_done, first.library_id) == (True, False, library.id)
        told: List[Any] = []
        done = client.documents.wait(first, on_status=lambda now: told.append(now.status))
        assert told[-1] == "done"
        assert done.status == client.documents.status(done).status == "done"
        again = client.documents.upload(library, text, wait=True)
        assert (again.id, again.created) == (first.id, False)
        assert client.documents.text(done) == "The sky is blue."
        assert client.documents.signed_url(done).url.startswith("https://")
        assert client.documents.signed_url(done, extracted_text=True).url.startswith("https://")
        updated = client.documents.update(done, name="blue.txt", attributes={"year": 2025})
        assert (updated.name, updated.attributes) == ("blue.txt", {"year": 2025})
        assert ids(client.documents.list(library)) == [done.id]
        client.documents.reprocess(done)
        assert client.documents.get(done).is_done is False
        assert client.documents.wait(done).is_done is True
        client.documents.delete(done)
        with pytest.raises(NotFoundError):
            client.documents.get(done)


@pytest.mark.usefixtures("quick")
def test_what_cannot_be_read_fails_with_the_document(client: KnowledgeClient) -> None:
    library = client.libraries.create("Notes")
    with pytest.raises(ProcessingError) as caught:
        client.documents.upload(library, ("a.pdf", b"no pdf at all"), wait=True)
    assert caught.value.document.name == "a.pdf"


def test_all_pages_of_many_documents_come_once(
    client: KnowledgeClient, fake: FakeTransport
) -> None:
    library = client.libraries.create("Notes")
    made = [client.documents.upload(library, (f"{n}.txt", f"text {n}")) for n in range(7)]
    fake.requests.clear()
    assert sorted(ids(client.documents.list(library, page_size=3))) == sorted(ids(made))
    assert len(fake.requests) == 3
    by_name = client.documents.list(library, sort_by="name", sort_order="asc")
    assert [one.name for one in by_name] == [f"{n}.txt" for n in range(7)]
    assert ids(client.documents.list(library, search="5.")) == [made[5].id]
