"""Files: what goes out and what comes back, over exact replies and over the in-memory API."""

from __future__ import annotations

import datetime
import os
import pathlib
import stat
import uuid
from typing import Any, Callable, List

import pytest

from mistral_knowledge import (
    ConnectionLostError,
    FakeTransport,
    File,
    InvalidArgumentError,
    KnowledgeClient,
    Library,
    NotFoundError,
    SignedUrl,
    UnexpectedResponseError,
)
from mistral_knowledge.transports.fake import Cut, Raise, Scripted

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
    "id": ID,
    "object": "file",
    "bytes": 13000,
    "created_at": 1716963433,
    "filename": "paper.pdf",
    "purpose": "ocr",
    "sample_type": "ocr_input",
    "source": "upload",
    "num_lines": 0,
    "mimetype": "application/pdf",
    "signature": "abc",
    "expires_at": None,
    "visibility": "user",
    "tomorrow": {"new": True},
}
AT = datetime.datetime(2024, 5, 29, 6, 17, 13, tzinfo=datetime.timezone.utc)


# upload


def test_an_upload_is_private_unless_asked_otherwise() -> None:
    client = answering(WIRE)
    client.files.upload(("paper.pdf", b"%PDF"))
    assert sent(client) == [("POST", "/v1/files")]
    assert parts(client) == [
        ("visibility", None, None, "user"),
        ("file", "paper.pdf", "application/pdf", 4),
    ]


def test_an_upload_sends_what_was_asked_in_order() -> None:
    client = answering(WIRE)
    client.files.upload(
        b"abc", name="a.jsonl", mime_type="x/y", purpose="batch", visibility="workspace", expiry=24
    )
    assert parts(client) == [
        ("expiry", None, None, "24"),
        ("visibility", None, None, "workspace"),
        ("purpose", None, None, "batch"),
        ("file", "a.jsonl", "x/y", 3),
    ]


def test_an_upload_has_a_multipart_type_and_reports_its_progress() -> None:
    told: List[Any] = []
    client = answering(WIRE)
    client.files.upload(("a", b"abc"), on_progress=lambda *now: told.append(now))
    assert records(client)[0].headers["content-type"].startswith("multipart/form-data; boundary=")
    assert told == [(3, 3)]


@pytest.mark.parametrize("visibility", ["public", "", None, "User"])
def test_a_visibility_that_is_none_is_refused_before_any_request(visibility: Any) -> None:
    client = answering()
    with pytest.raises(InvalidArgumentError, match="visibility="):
        client.files.upload(("a", b""), visibility=visibility)
    assert sent(client) == []


def test_a_path_is_closed_again_whether_or_not_the_upload_succeeds(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    client = scripted(Scripted(json=WIRE), Scripted(413))
    client.files.upload(path)
    with pytest.raises(Exception, match="too large"):
        client.files.upload(str(path))  # an open file would be a ResourceWarning, an error here
    assert [record.parts[-1].filename for record in records(client)] == ["a.txt", "a.txt"]


def test_a_file_has_typed_fields_and_keeps_the_unknown_ones() -> None:
    file = answering(WIRE).files.get(ID)
    assert file == File(
        id=ID,
        filename="paper.pdf",
        size=13000,
        purpose="ocr",
        visibility="user",
        mimetype="application/pdf",
        created_at=AT,
        expires_at=None,
        sample_type="ocr_input",
        source="upload",
        num_lines=0,
        signature="abc",
        deleted=None,
    )
    assert file.raw == WIRE
    assert file.log_fields() == {"file_id": ID, "visibility": "user", "size": 13000}


@pytest.mark.parametrize("payload", [{"id": ID}, {**dict.fromkeys(WIRE), "id": ID}])
def test_missing_and_null_fields_break_nothing(payload: Any) -> None:
    assert answering(payload).files.get(ID) == File(id=ID)


# get, delete, signed_url


@pytest.mark.parametrize("named", [ID, uuid.UUID(ID), File(id=ID)])
def test_a_file_is_named_by_itself_or_its_id(named: Any) -> None:
    client = answering(WIRE, {"id": ID, "deleted": True}, {"url": "https://x.example/a?s=1"})
    assert client.files.get(named).id == ID
    client.files.delete(named)
    assert client.files.signed_url(named) == SignedUrl("https://x.example/a?s=1")
    assert sent(client) == [
        ("GET", f"/v1/files/{ID}"),
        ("DELETE", f"/v1/files/{ID}"),
        ("GET", f"/v1/files/{ID}/url"),
    ]
    assert queries(client) == [[], [], []]


@pytest.mark.parametrize("evil", [*EVIL_IDS, Library(id=ID)])
@pytest.mark.parametrize("method", ["get", "delete", "download", "signed_url"])
def test_what_is_no_id_of_a_file_is_refused_before_any_request(method: str, evil: Any) -> None:
    client = answering()
    with pytest.raises(InvalidArgumentError):
        getattr(client.files, method)(evil)
    assert sent(client) == []


def test_a_signed_url_given_as_an_id_is_not_shown_by_the_error() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        answering().files.get("https://files.example/a?sig=s3cr3t")
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("reply", [Scripted(204), Scripted(200, json={"id": ID}), Scripted(200)])
def test_a_delete_takes_an_empty_reply_and_a_full_one(reply: Scripted) -> None:
    client = scripted(reply)
    assert client.files.delete(ID) is None  # type: ignore[func-returns-value]
    assert all_closed(client)


def test_a_signed_url_is_asked_for_its_hours() -> None:
    client = answering({"url": "https://x.example/a?s=1"})
    assert client.files.signed_url(ID, expiry=48).url == "https://x.example/a?s=1"
    assert queries(client) == [[("expiry", "48")]]


@pytest.mark.parametrize(
    "payload",
    [
        *({}, {"url": None}, {"url": 5}, [], "https://x.example", None),
        *({"url": "javascript:alert(1)"}, {"url": "https://x.example/a b"}),
    ],
)
def test_a_signed_url_of_another_shape_is_an_error(payload: Any) -> None:
    with pytest.raises(UnexpectedResponseError, match="expected a signed URL"):
        answering(payload).files.signed_url(ID)


# list


def page(*ids: str, **fields: Any) -> Any:
    return {"data": [{"id": one} for one in ids], "object": "list", **fields}


def ids(items: Any) -> List[str]:
    return [item.id for item in items]


def test_a_list_asks_only_when_it_is_read_and_only_for_what_was_asked() -> None:
    client = answering(page("a", total=1))
    files = client.files.list()
    assert sent(client) == []
    assert ids(files) == ["a"]
    assert sent(client) == [("GET", "/v1/files")]
    assert queries(client) == [[("page", "0"), ("page_size", "100")]]


def test_filters_of_a_list_are_repeated_keys() -> None:
    client = answering(page(total=0))
    files = client.files.list(
        search="pa per",
        purpose="ocr",
        source=["upload", "mistral"],
        sample_type=["a", "b"],
        mimetypes=["x/y"],
        page_size=7,
    )
    assert list(files) == []
    several = [("source", "upload"), ("source", "mistral")]
    several += [("sample_type", "a"), ("sample_type", "b"), ("mimetypes", "x/y")]
    one_each = [("page", "0"), ("page_size", "7"), ("search", "pa per"), ("purpose", "ocr")]
    assert queries(client) == [one_each + several]


def test_a_list_goes_on_until_the_total_is_there() -> None:
    client = answering(page("a", "b", total=5), page("c", "d", total=5), page("e", total=5))
    assert ids(client.files.list(page_size=2)) == ["a", "b", "c", "d", "e"]
    assert [dict(query)["page"] for query in queries(client)] == ["0", "1", "2"]


def test_a_list_goes_on_although_the_server_gives_smaller_pages_than_asked() -> None:
    client = answering(page("a", "b", total=3), page("c", total=3))
    assert ids(client.files.list(page_size=1000)) == ["a", "b", "c"]


def test_without_a_total_a_short_page_is_the_last() -> None:
    client = answering(page("a", "b", total=None), page("c", total=None))
    assert ids(client.files.list(page_size=2)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "pages",
    [
        [page("a", "b", total=99), page("a", "b", total=99)],  # the same page again
        [page("a", "b", total=99), page(total=99)],  # an empty page
        [page("a", "b"), page("b", "a")],  # the same in another order
        [page("a", "b", total=99), {"data": None, "total": 99}],
        [[{"id": "a"}, {"id": "b"}], []],  # a bare array
    ],
)
def test_a_list_ends_on_a_strange_server(pages: List[Any]) -> None:
    client = answering(*pages)
    assert ids(client.files.list(page_size=2)) == ["a", "b"]


def test_a_file_that_comes_twice_is_given_once() -> None:
    client = answering(page("a", "b", total=4), page("b", "c", total=4))
    assert ids(client.files.list(page_size=2)) == ["a", "b", "c"]


def test_pages_come_one_by_one_and_no_further_than_they_are_read() -> None:
    client = answering(page("a", "b", total=9), page("c", "d", total=9))
    pages = client.files.list(page_size=2).pages()
    assert ids(next(pages)) == ["a", "b"]
    assert len(sent(client)) == 1
    assert ids(next(pages)) == ["c", "d"]


def test_a_list_of_another_shape_is_an_error() -> None:
    for payload in ({"data": {"id": "a"}}, {"data": ["a"]}, {"data": [{}]}):
        with pytest.raises(UnexpectedResponseError):
            list(answering(payload).files.list())


# download


def test_a_download_is_the_bytes_as_they_are() -> None:
    client = scripted(Scripted(steps=[b"ab", b"\x00\xff", b"cd"]))
    assert client.files.download(ID) == b"ab\x00\xffcd"
    assert sent(client) == [("GET", f"/v1/files/{ID}/content")]
    assert records(client)[0].headers["accept"] == "application/octet-stream"


@pytest.mark.parametrize("as_given", [str, pathlib.Path, os.fsencode])
def test_a_download_to_a_path_is_there_whole(tmp_path: pathlib.Path, as_given: Any) -> None:
    client = scripted(Scripted(steps=[b"ab", b"cd"]))
    assert client.files.download(ID, as_given(tmp_path / "a.bin")) is None
    assert (tmp_path / "a.bin").read_bytes() == b"abcd"
    assert names_in(tmp_path) == ["a.bin"]


def test_a_download_looks_like_any_other_new_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    scripted(Scripted(steps=[b"x"])).files.download(ID, tmp_path / "a.bin")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "a.bin")}
    assert len(modes) == 1


@pytest.mark.parametrize("before", [None, b"what was there"])
@pytest.mark.parametrize("end", [Cut(), Raise(KeyboardInterrupt())])
def test_a_download_that_breaks_off_leaves_everything_as_it_was(
    tmp_path: pathlib.Path, before: Any, end: Any
) -> None:
    target = tmp_path / "a.bin"
    if before is not None:
        target.write_bytes(before)
    client = scripted(*[Scripted(steps=[b"half", end])] * 3)
    with pytest.raises((ConnectionLostError, KeyboardInterrupt)):
        client.files.download(ID, target)
    assert (target.read_bytes() if target.exists() else None) == before
    assert names_in(tmp_path) == ["a.bin"] * (before is not None)
    assert all_closed(client)


def test_a_download_that_breaks_off_starts_anew(tmp_path: pathlib.Path) -> None:
    client = scripted(Scripted(steps=[b"ha", Cut()]), Scripted(steps=[b"whole"]))
    client.files.download(ID, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == b"whole"


def test_a_download_to_no_folder_is_the_systems_error_and_closes_the_reply(
    tmp_path: pathlib.Path,
) -> None:
    client = scripted(Scripted(steps=[b"x"]))
    with pytest.raises(FileNotFoundError):
        client.files.download(ID, tmp_path / "none" / "a.bin")
    assert all_closed(client)


def test_a_download_never_takes_the_place_of_a_folder_or_a_device(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    client = scripted()
    for target in (tmp_path, tmp_path / "pipe", "/dev/null"):
        with pytest.raises(InvalidArgumentError, match="name a file"):
            client.files.download(ID, target)
    assert sent(client) == []


def test_a_refused_download_writes_nothing(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NotFoundError):
        scripted(Scripted(404)).files.download(ID, tmp_path / "a.bin")
    assert names_in(tmp_path) == []


def test_a_download_may_have_a_name_as_long_as_the_system_allows(tmp_path: pathlib.Path) -> None:
    target = tmp_path / ("x" * 255)
    scripted(Scripted(steps=[b"x"])).files.download(ID, target)
    assert target.read_bytes() == b"x"


def names_in(folder: pathlib.Path) -> List[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


# the in-memory API


def test_a_file_lives_its_whole_life(client: KnowledgeClient, tmp_path: pathlib.Path) -> None:
    content = bytes(range(256)) * 3000
    file = client.files.upload(("data.bin", content), purpose="ocr")
    assert (file.filename, file.size, file.purpose) == ("data.bin", len(content), "ocr")
    assert file.visibility == "user"
    assert client.files.get(file).deleted is False
    assert client.files.download(file) == content
    client.files.download(file, tmp_path / "copy.bin")
    assert (tmp_path / "copy.bin").read_bytes() == content
    assert client.files.signed_url(file, expiry=1).url.startswith("https://")
    client.files.delete(file)
    with pytest.raises(NotFoundError):
        client.files.get(file)


def test_all_pages_of_many_files_come_once(client: KnowledgeClient, fake: FakeTransport) -> None:
    made = [client.files.upload((f"{number}.txt", b"x")) for number in range(7)]
    listed = ids(client.files.list(page_size=3))
    assert sorted(listed) == sorted(file.id for file in made)
    assert [len(page) for page in client.files.list(page_size=3).pages()] == [3, 3, 1]
    assert ids(client.files.list(search="5.TXT")) == [made[5].id]
    assert ids(client.files.list(purpose="nothing-has-this")) == []


@pytest.mark.parametrize("act", ["get", "delete", "download", "signed_url"])
def test_a_file_that_is_not_there_is_not_found(client: KnowledgeClient, act: str) -> None:
    method: Callable[[str], Any] = getattr(client.files, act)
    with pytest.raises(NotFoundError):
        method(OTHER)


def test_a_later_page_without_data_is_an_error_and_no_silent_end() -> None:
    client = answering(page("a", "b", total=99), {"object": "list", "total": 99})
    with pytest.raises(UnexpectedResponseError):
        ids(client.files.list(page_size=2))


@pytest.mark.parametrize("path", ["", "folder/", "x\0"])
def test_a_path_that_names_no_file_is_refused_before_any_request(path: str) -> None:
    fake = FakeTransport(script=[])
    with pytest.raises(InvalidArgumentError):
        KnowledgeClient(transport=fake).files.download(ID, path)
    assert fake.requests == []


# the size of a File shows a cut that HTTP cannot show


def cut_where_nothing_shows_it(content: bytes) -> Scripted:
    """A body without a length, behind which the connection was closed."""
    return Scripted(headers={"content-type": "application/octet-stream"}, steps=[content])


@pytest.mark.parametrize("to_path", [True, False])
def test_a_download_that_is_shorter_than_its_file_is_a_lost_connection(
    tmp_path: pathlib.Path, to_path: bool
) -> None:
    client = scripted(*[cut_where_nothing_shows_it(b"%PD")] * 3)
    target = [tmp_path / "paper.pdf"] if to_path else []
    with pytest.raises(ConnectionLostError, match="3 of 4 bytes"):
        client.files.download(File(ID, size=4), *target)
    assert len(sent(client)) == 3  # it is tried again, as any lost connection is
    assert names_in(tmp_path) == []
    assert all_closed(client)


@pytest.mark.parametrize("file", [ID, File(ID), File(ID, size=3), File(ID, size=2)])
def test_a_download_whose_size_is_not_known_or_reached_is_taken_as_it_is(file: Any) -> None:
    client = scripted(cut_where_nothing_shows_it(b"%PD"))
    assert client.files.download(file) == b"%PD"
