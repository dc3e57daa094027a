"""_uploads and _multipart: whatever can be uploaded, as one streaming body."""

from __future__ import annotations

import io
import os
import pathlib
import tempfile
import threading
from email import message_from_bytes
from email.message import Message
from typing import Any, BinaryIO, Callable, Iterator, List, Optional, Tuple

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge import InvalidArgumentError
from mistral_knowledge._multipart import MultipartBody
from mistral_knowledge._uploads import BLOCK, Upload, mime_type_of, open_upload

CONTENT = b"The sky is blue.\r\n--\x00\xff"


def facts(upload: Upload) -> Tuple[str, str, Optional[int], bool]:
    return upload.name, upload.mime_type, upload.length, upload.repeatable


def read(upload: Upload) -> bytes:
    return b"".join(upload)


class FileStorage:
    """Stands in for werkzeug's: a stream behind `__getattr__`, and a `filename`."""

    def __init__(self, stream: BinaryIO, filename: Optional[str]) -> None:
        self.stream, self.filename, self.name = stream, filename, "field"
        self.content_type = "text/plain"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.stream)


class UploadedFile:
    """Stands in for Django's: the methods of its file as properties, a `name` and a `size`."""

    def __init__(self, file: BinaryIO, name: str, size: int) -> None:
        self.file, self.name, self.size = file, name, size

    read = property(lambda self: self.file.read)
    seek = property(lambda self: self.file.seek)
    tell = property(lambda self: self.file.tell)

    def __len__(self) -> int:
        return self.size


class ReadOnly:
    """The least that can be uploaded: `read()`."""

    def __init__(self, content: bytes, piece: int = 5) -> None:
        self._file, self._piece = io.BytesIO(content), piece

    def read(self, size: int = -1) -> bytes:
        return self._file.read(min(size, self._piece))


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    made = tmp_path / "sky.md"
    made.write_bytes(CONTENT)
    return made


@pytest.mark.parametrize("as_given", [str, pathlib.Path, os.fsencode])
def test_a_path_is_uploaded_under_its_own_name(path: pathlib.Path, as_given: Any) -> None:
    given_path = as_given(path)
    file = os.fsdecode(given_path) if isinstance(given_path, bytes) else given_path
    with open_upload(file) as upload:
        assert facts(upload) == ("sky.md", "text/markdown", len(CONTENT), True)
        assert (read(upload), read(upload)) == (CONTENT, CONTENT)


def test_an_entry_of_a_folder_read_as_bytes_is_a_path_too(path: pathlib.Path) -> None:
    with os.scandir(os.fsencode(path.parent)) as entries:
        entry = next(entry for entry in entries if entry.name == b"sky.md")
    with open_upload(entry) as upload:  # type: ignore[arg-type]
        assert (upload.name, read(upload)) == ("sky.md", CONTENT)


def test_a_file_that_was_opened_here_is_closed_here(path: pathlib.Path) -> None:
    with open_upload(path) as upload:
        stream = upload._stream
    assert stream.closed


def test_a_file_of_the_callers_stays_open(path: pathlib.Path) -> None:
    with path.open("rb") as file:
        with open_upload(file) as upload:
            assert read(upload) == CONTENT
        assert not file.closed


def test_a_path_that_cannot_be_opened_raises_what_open_raises(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        open_upload(tmp_path / "missing")


def test_a_path_that_is_no_ordinary_file_is_refused_before_it_is_opened(
    tmp_path: pathlib.Path,
) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for a writer, for ever
    for path in (tmp_path, tmp_path / "pipe", pathlib.Path("/dev/zero")):
        with pytest.raises(InvalidArgumentError, match="no ordinary file"):
            open_upload(path)
    with pytest.raises(InvalidArgumentError, match="is no path"):
        open_upload("a\0b")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_are_uploaded_under_the_name_that_is_given(kind: Any) -> None:
    with open_upload(kind(CONTENT), "a.txt") as upload:
        assert facts(upload) == ("a.txt", "text/plain", len(CONTENT), True)
        assert read(upload) == CONTENT


@pytest.mark.parametrize(
    "file", [CONTENT, bytearray(CONTENT), io.BytesIO(CONTENT), ReadOnly(CONTENT)]
)
def test_what_has_no_name_needs_one(file: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="give name="):
        open_upload(file)
    assert open_upload(file, "a.txt").name == "a.txt"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (("a.txt", CONTENT), ("a.txt", "text/plain", len(CONTENT), True)),
        (("a.txt", "ünï"), ("a.txt", "text/plain", 5, True)),
        (("a.txt", CONTENT, "x/y"), ("a.txt", "x/y", len(CONTENT), True)),
        (("a.txt", CONTENT, None), ("a.txt", "text/plain", len(CONTENT), True)),
        (("a.txt", io.BytesIO(CONTENT)), ("a.txt", "text/plain", len(CONTENT), True)),
        (("a.txt", ReadOnly(CONTENT)), ("a.txt", "text/plain", None, True)),
    ],
)
def test_a_tuple_is_name_content_and_perhaps_a_type(file: Any, expected: Any) -> None:
    assert facts(open_upload(file)) == expected


def test_name_and_type_that_are_given_beat_those_of_the_file(path: pathlib.Path) -> None:
    for file in (path, ("x.pdf", CONTENT, "x/y"), FileStorage(io.BytesIO(CONTENT), "x.pdf")):
        with open_upload(file, "mine.csv", "a/b") as upload:  # type: ignore[arg-type]
            assert (upload.name, upload.mime_type) == ("mine.csv", "a/b")


@pytest.mark.parametrize(
    "file",
    [(), ("a",), ("a", b"", "x/y", 1), (b"a", b""), ("a", None), ("a", 5), 5, None, [b"x"], {}],
)
def test_what_cannot_be_uploaded_is_refused(file: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        open_upload(file, "a.txt")


@pytest.mark.parametrize("file", [io.StringIO("text"), FileStorage(io.StringIO("x"), "a")])  # type: ignore[arg-type]
def test_a_file_in_text_mode_is_refused_with_the_way_out(file: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="open it with mode 'rb'"):
        open_upload(file, "a.txt")


def test_an_open_text_file_is_refused_too(path: pathlib.Path) -> None:
    with path.open(encoding="latin-1") as file, pytest.raises(InvalidArgumentError, match="'rb'"):
        open_upload(file)  # type: ignore[arg-type]


def test_an_asynchronous_file_is_refused_with_the_way_out() -> None:
    class UploadFile:
        filename = "a.txt"

        async def read(self, size: int = -1) -> bytes:
            return b""

    with pytest.raises(InvalidArgumentError, match=r"asynchronous upload.*\.file"):
        open_upload(UploadFile())  # type: ignore[arg-type]


def test_a_temporary_file_whose_name_is_a_number_needs_a_name() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(CONTENT)
        file.seek(0)
        with pytest.raises(InvalidArgumentError, match="give name="):
            open_upload(file)
        assert facts(open_upload(file, "a.txt")) == ("a.txt", "text/plain", len(CONTENT), True)


@pytest.mark.parametrize("max_size", [1, 1000])
def test_a_spooled_temporary_file_is_uploaded_before_and_after_it_goes_to_disk(
    max_size: int,
) -> None:
    with tempfile.SpooledTemporaryFile(max_size) as file:
        file.write(CONTENT)
        file.seek(3)
        upload = open_upload(file, "a.txt")  # type: ignore[arg-type]
        assert (upload.length, read(upload)) == (len(CONTENT) - 3, CONTENT[3:])


def test_uploads_of_flask_and_django_have_their_names_and_sizes() -> None:
    flask = open_upload(FileStorage(io.BytesIO(CONTENT), "sky.pdf"))  # type: ignore[arg-type]
    django = open_upload(UploadedFile(io.BytesIO(CONTENT), "sky.pdf", 3))  # type: ignore[arg-type]
    assert facts(flask) == facts(django) == ("sky.pdf", "application/pdf", len(CONTENT), True)
    assert read(flask) == read(django) == CONTENT


@pytest.mark.parametrize("filename", [None, ""])
def test_an_upload_without_a_file_name_falls_back_to_the_files_own(filename: Any) -> None:
    storage = FileStorage(io.BytesIO(CONTENT), filename)
    assert open_upload(storage).name == "field"  # type: ignore[arg-type]


def test_a_folder_in_a_files_name_is_not_sent() -> None:
    storage = FileStorage(io.BytesIO(CONTENT), "/home/me/private/sky.pdf")
    assert open_upload(storage).name == "sky.pdf"  # type: ignore[arg-type]


def test_a_pipe_has_no_length_and_is_read_once() -> None:
    out, into = os.pipe()
    content = os.urandom(3 * BLOCK + 5)

    def write() -> None:
        with open(into, "wb") as file:
            file.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    with open(out, "rb") as file:
        upload = open_upload(file, "a.bin")
        assert facts(upload) == ("a.bin", "application/octet-stream", None, True)
        assert read(upload) == content
        assert upload.repeatable is False
        with pytest.raises(InvalidArgumentError, match="second time"):
            iter(upload)
    writer.join(10)


def test_a_pipe_that_does_not_wait_for_its_data_is_refused_not_cut() -> None:
    out, into = os.pipe()
    os.set_blocking(out, False)
    with open(into, "wb"), open(out, "rb", buffering=0) as file:
        upload = open_upload(file, "a.bin")
        with pytest.raises(InvalidArgumentError, match="does not wait"):
            read(upload)


def test_a_file_is_read_from_where_it_stands_each_time(path: pathlib.Path) -> None:
    with path.open("rb") as file:
        file.seek(4)
        upload = open_upload(file)
        assert upload.length == len(CONTENT) - 4
        blocks = iter(upload)
        next(blocks)
        file.seek(0, io.SEEK_END)
        assert (read(upload), read(upload)) == (CONTENT[4:], CONTENT[4:])


def test_a_file_that_stands_behind_its_end_is_empty(path: pathlib.Path) -> None:
    with path.open("rb") as file:
        file.seek(1000)
        assert (open_upload(file).length, read(open_upload(file))) == (0, b"")


def test_a_file_that_becomes_shorter_is_an_error_not_a_cut_upload(path: pathlib.Path) -> None:
    with open_upload(path) as upload:
        path.write_bytes(CONTENT[:5])
        with pytest.raises(InvalidArgumentError, match="became shorter"):
            read(upload)


def test_a_file_that_grows_is_uploaded_as_it_was(path: pathlib.Path) -> None:
    with open_upload(path) as upload:
        with path.open("ab") as file:
            file.write(b"more")
        assert read(upload) == CONTENT


@given(st.binary(max_size=200), st.integers(1, 7), st.integers(0, 50))
def test_any_content_in_any_pieces_comes_out_as_it_is(content: bytes, piece: int, at: int) -> None:
    file = io.BytesIO(content)
    file.seek(min(at, len(content)))
    assert read(open_upload(file, "x")) == content[at:]
    assert read(open_upload(ReadOnly(content, piece), "x")) == content  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "mime_type"),
    [
        ("a.md", "text/markdown"),
        ("A.MD", "text/markdown"),
        ("a.tar.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        ("a.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("a.epub", "application/epub+zip"),
        ("a.ipynb", "application/x-ipynb+json"),
        ("a.jsonl", "application/jsonl"),
        ("a.odt", "application/vnd.oasis.opendocument.text"),
        ("a.csv", "text/csv"),
        ("a.pdf", "application/pdf"),
        ("a.png", "image/png"),
        ("a", "application/octet-stream"),
        (".md", "application/octet-stream"),
        ("a.nobody-knows", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_mime_types_come_from_the_name_and_do_not_depend_on_the_machine(
    name: str, mime_type: str
) -> None:
    assert mime_type_of(name) == mime_type


@pytest.mark.parametrize("mime_type", ["a/b\r\nX-Evil: 1", "a/b\n", "té/xt", "a/b\0"])
def test_a_type_that_would_break_the_part_headers_is_refused(mime_type: str) -> None:
    with pytest.raises(InvalidArgumentError, match="mime_type="):
        open_upload(CONTENT, "a.txt", mime_type)
    with pytest.raises(InvalidArgumentError, match="mime_type="):
        open_upload(("a.txt", CONTENT, mime_type))


def parts_of(body: MultipartBody) -> List[Message]:
    head = f"Content-Type: {body.content_type}\r\n\r\n".encode()
    message = message_from_bytes(head + b"".join(body))
    assert message.defects == []
    return message.get_payload()  # type: ignore[return-value]


def body_of(file: Any = ("a.txt", CONTENT), fields: Any = (), **more: Any) -> MultipartBody:
    return MultipartBody(fields, open_upload(file), **more)


def test_a_body_is_its_fields_in_order_and_then_the_file() -> None:
    body = body_of(fields=[("visibility", "user"), ("purpose", "ocr")])
    boundary = body.content_type.partition("boundary=")[2].encode()
    assert b"".join(body) == b"".join(
        [
            b"--%b\r\n" % boundary,
            b'Content-Disposition: form-data; name="visibility"\r\n\r\nuser\r\n',
            b"--%b\r\n" % boundary,
            b'Content-Disposition: form-data; name="purpose"\r\n\r\nocr\r\n',
            b"--%b\r\n" % boundary,
            b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n',
            b"Content-Type: text/plain\r\n\r\n" + CONTENT + b"\r\n",
            b"--%b--\r\n" % boundary,
        ]
    )
    assert body.length == len(b"".join(body))
    assert body.repeatable is True


def test_the_same_body_is_sent_again_with_the_same_boundary() -> None:
    body = body_of()
    assert b"".join(body) == b"".join(body)


def test_each_body_has_a_boundary_of_its_own() -> None:
    boundaries = {body_of().content_type for _ in range(20)}
    assert len(boundaries) == 20


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("naïve 中文 📄.txt", 'filename="naïve 中文 📄.txt"'),
        ('a"b.txt', 'filename="a%22b.txt"'),
        ("a\r\nX-Evil: 1.txt", 'filename="a%0D%0AX-Evil: 1.txt"'),
        ("a;b=c.txt", 'filename="a;b=c.txt"'),
        (os.fsdecode(b"\xff.txt"), 'filename="?.txt"'),
    ],
)
def test_file_names_are_utf8_with_quotes_and_line_ends_encoded(name: str, sent: str) -> None:
    whole = b"".join(body_of((name, CONTENT)))
    line = next(line for line in whole.split(b"\r\n") if b"filename" in line)
    assert line.decode("utf-8") == f'Content-Disposition: form-data; name="file"; {sent}'


def test_a_file_whose_name_is_no_text_is_uploaded_all_the_same(tmp_path: pathlib.Path) -> None:
    path = os.fsdecode(os.fsencode(str(tmp_path)) + b"/\xff\xfe.txt")
    pathlib.Path(path).write_bytes(CONTENT)
    with open_upload(path) as upload:
        assert CONTENT in b"".join(MultipartBody([], upload))


def test_a_body_of_unknown_length_says_so() -> None:
    body = body_of(("a.txt", ReadOnly(CONTENT)))
    assert (body.length, body.repeatable) == (None, True)
    assert CONTENT in b"".join(body)
    assert body.repeatable is False


def test_progress_is_told_after_each_block_and_starts_anew() -> None:
    told: List[Any] = []
    content = b"x" * (2 * BLOCK + 7)
    body = body_of(("a", content), on_progress=lambda sent, total: told.append((sent, total)))
    expected = [(size, len(content)) for size in (BLOCK, 2 * BLOCK, len(content))]
    b"".join(body)
    assert told == expected
    b"".join(body)
    assert told == expected * 2


def test_progress_of_a_file_that_does_not_know_its_length_has_no_total() -> None:
    told: List[Any] = []
    body = body_of(("a", ReadOnly(b"12345678")), on_progress=lambda *told_: told.append(told_))
    b"".join(body)
    assert told == [(5, None), (8, None)]


def test_what_progress_raises_ends_the_upload_as_it_is() -> None:
    error = RuntimeError("enough")

    def stop(sent: int, total: Optional[int]) -> None:
        raise error

    with pytest.raises(RuntimeError) as caught:
        b"".join(body_of(on_progress=stop))
    assert caught.value is error


@pytest.mark.parametrize("content", [b"", b"\r\n", b"--", b"\r\n--x--\r\n"])
def test_content_that_looks_like_multipart_stays_whole(content: bytes) -> None:
    (part,) = parts_of(body_of(("a.bin", content, "application/octet-stream")))
    assert part.get_filename() == "a.bin"
    assert content in b"".join(body_of(("a.bin", content)))


def test_a_body_never_holds_more_than_a_block(path: pathlib.Path) -> None:
    path.write_bytes(b"x" * (5 * BLOCK))
    make: Callable[[], Upload] = lambda: open_upload(path)  # noqa: E731
    with make() as upload:
        assert max(len(piece) for piece in MultipartBody([], upload)) == BLOCK


def test_text_that_no_utf8_can_hold_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="no UTF-8"):
        open_upload(("n.txt", "\ud800"))


def test_a_read_that_ignores_its_size_is_refused_and_never_an_empty_upload() -> None:
    class Greedy:
        name = "x.txt"

        def read(self, size: int = -1) -> bytes:
            return b"everything"

    with pytest.raises(InvalidArgumentError, match="does not take a size"):
        open_upload(Greedy())  # type: ignore[arg-type]


def test_a_place_that_is_no_number_makes_a_stream_that_cannot_seek() -> None:
    class Placeless(io.BytesIO):
        name = "x.txt"

        def tell(self) -> Any:
            return None

    with open_upload(Placeless(b"x")) as upload:
        assert (upload.length, b"".join(upload)) == (None, b"x")
