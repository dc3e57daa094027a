"""/v1/files as wire.md 1.1 describes it."""

import pytest

from mistral_knowledge.fake_api import KnowledgeApi

from .asking import MULTIPART, Asker, issues, multipart


def test_an_upload_is_answered_with_200_and_the_whole_file_object(ask):
    body = multipart("a.jsonl", b"{}\n{}\n", purpose="batch", visibility="user", expiry="2")
    assert ask.status("POST", "/v1/files", body=body, headers=MULTIPART) == 200
    file = ask("GET", "/v1/files")["data"][0]
    shown = {name: file[name] for name in file if name not in ("id", "created_at", "signature")}
    expected = {
        "object": "file",
        "bytes": 6,
        "filename": "a.jsonl",
        "purpose": "batch",
        "sample_type": "batch_request",
        "source": "upload",
        "num_lines": 2,
        "mimetype": "application/jsonl",
        "expires_at": file["created_at"] + 7200,
        "visibility": "user",
    }
    assert expected == shown


def test_visibility_is_workspace_unless_asked_otherwise(ask):
    assert ask.file("a.txt", b"x")["visibility"] == "workspace"


def test_the_file_part_may_come_before_the_fields(ask):
    head = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n'
    tail = b'--B\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nocr\r\n--B--\r\n'
    assert ask("POST", "/v1/files", body=head + tail, headers=MULTIPART)["purpose"] == "ocr"


@pytest.mark.parametrize(
    ("fields", "place"), [({"purpose": "fun"}, "purpose"), ({"expiry": "soon"}, "expiry")]
)
def test_a_field_that_does_not_fit_is_422_and_leaves_nothing(ask, fields, place):
    reply = ask.file("a.txt", b"x", **fields)
    assert issues(reply)[0][0] == ["body", place]
    assert ask("GET", "/v1/files")["total"] == 0
    assert ask.api._parts.store.number("SELECT count(*) FROM pieces") == 0


def test_an_upload_without_a_file_is_422(ask):
    reply = ask("POST", "/v1/files", body=b"--B--\r\n", headers=MULTIPART)
    assert issues(reply) == [(["body", "file"], "missing")]
    assert ask.status("POST", "/v1/files", {"file": "x"}) == 422


def test_an_upload_that_ends_early_is_400_and_leaves_nothing(ask):
    body = multipart("a.txt", b"x" * 3_000_000)[:-20]
    assert ask.status("POST", "/v1/files", body=body, headers=MULTIPART) == 400
    assert ask.api._parts.store.number("SELECT count(*) FROM pieces") == 0


def test_what_the_body_raises_comes_out_as_it_is_and_leaves_nothing(ask):
    class Stopped(Exception):
        pass

    def body():
        yield multipart("a.txt", b"x" * 3_000_000)[:-20]
        raise Stopped

    with pytest.raises(Stopped):
        ask("POST", "/v1/files", body=body(), headers=MULTIPART)
    assert ask.api._parts.store.number("SELECT count(*) FROM pieces") == 0


def test_above_the_limit_an_upload_is_413():
    with KnowledgeApi(max_upload_bytes=10) as api:
        body = multipart("a.txt", b"x" * 11)
        assert Asker(api).status("POST", "/v1/files", body=body, headers=MULTIPART) == 413


def test_content_gives_the_bytes_back(ask):
    content = bytes(range(256)) * 9000
    file = ask.file("a.bin", content)
    reply = ask.reply("GET", f"/v1/files/{file['id']}/content")
    assert reply.headers["content-type"] == "application/octet-stream"
    assert reply.body() == content


def test_get_says_that_it_is_not_deleted_and_delete_says_that_it_is(ask):
    path = f"/v1/files/{ask.file('a.txt', b'x')['id']}"
    assert ask("GET", path)["deleted"] is False
    assert ask("DELETE", path)["deleted"] is True
    assert ask.status("GET", path) == 404


def test_pages_come_newest_first_until_a_short_one(ask):
    for name in "abc":
        ask.file(f"{name}.txt", b"x")
    pages = [ask("GET", f"/v1/files?page={page}&page_size=2") for page in range(3)]
    names = [[file["filename"] for file in page["data"]] for page in pages]
    assert names == [["c.txt", "b.txt"], ["a.txt"], []]
    assert [page["total"] for page in pages] == [3, 3, 3]
    assert ask("GET", "/v1/files?include_total=false")["total"] is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("search=A.", ["a.jsonl"]),
        ("search=%25", []),
        ("purpose=ocr", ["b.pdf"]),
        ("sample_type=batch_request&sample_type=ocr_input", ["b.pdf", "a.jsonl"]),
        ("source=mistral", []),
        ("mimetypes=application/pdf", ["b.pdf"]),
    ],
)
def test_filters_narrow_the_list(ask, query, expected):
    ask.file("a.jsonl", b"{}", purpose="batch")
    ask.file("b.pdf", b"x", purpose="ocr")
    assert [file["filename"] for file in ask("GET", f"/v1/files?{query}")["data"]] == expected


def test_a_signed_url_gives_the_file_to_whoever_holds_it(ask):
    file = ask.file("a.txt", b"hello")
    url = ask("GET", f"/v1/files/{file['id']}/url?expiry=1")["url"]
    assert url.startswith("https://api.mistral.ai/")
    assert ask.reply("GET", url).body() == b"hello"
    assert ask.status("GET", url[:-1] + ("0" if url[-1] != "0" else "1")) == 403


def test_a_signed_url_ends_when_its_time_is_over():
    now = [1000.0]
    with KnowledgeApi(clock=lambda: now[0]) as api:
        ask = Asker(api)
        url = ask("GET", f"/v1/files/{ask.file('a.txt', b'x')['id']}/url?expiry=1")["url"]
        now[0] += 3601
        assert ask.status("GET", url) == 403


@pytest.mark.parametrize("hours", ["0", "169", "x"])
def test_an_expiry_outside_of_1_to_168_hours_is_422(ask, hours):
    file = ask.file("a.txt", b"x")
    assert ask.status("GET", f"/v1/files/{file['id']}/url?expiry={hours}") == 422


@pytest.mark.parametrize("name", ["prüfung.txt", "a b.txt", "back\\slash.txt", "東京.txt"])
def test_file_names_come_through_as_they_are(ask, name):
    assert ask.file(name, b"x")["filename"] == name


def test_quotes_in_file_names_are_escaped_either_way(ask):
    assert ask.file("a%22b.txt", b"x")["filename"] == 'a"b.txt'
    assert ask.file('a\\"b.txt', b"x")["filename"] == 'a"b.txt'
