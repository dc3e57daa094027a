"""A model reads files below the allowed roots, and no others."""

from __future__ import annotations

import os
import pathlib
import threading
from typing import Any, Callable, Dict

import pytest

from mistral_knowledge import FakeTransport, InvalidArgumentError, KnowledgeClient, Library
from mistral_knowledge.tools import KnowledgeTool, ToolResult, knowledge_tools

Run = Callable[..., ToolResult]


@pytest.fixture
def secret(tmp_path: pathlib.Path) -> pathlib.Path:
    """A file beside the root."""
    file = tmp_path / "secret.txt"
    file.write_text("the secret")
    return file


def test_without_roots_no_file_can_be_read(client: KnowledgeClient, secret: pathlib.Path) -> None:
    result = knowledge_tools(client)[0].execute({"path": str(secret)})
    assert "no local files may be read here" in result.content


@pytest.mark.parametrize("tool", ["file_upload", "document_upload"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_file_below_a_root_is_uploaded_under_its_name(
    run: Run, root: pathlib.Path, library: Library, fake: FakeTransport, tool: str, absolute: bool
) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "a.txt").write_text("content")
    path = str(root / "sub" / "a.txt") if absolute else "sub/a.txt"
    more: Dict[str, Any] = {"library_id": library.id} if tool == "document_upload" else {}
    assert run(tool, path=path, **more).is_error is False
    (part,) = [part for part in fake.requests[-1].parts if part.filename]
    assert (part.filename, part.size) == ("a.txt", len("content"))


def test_a_file_may_get_another_name(run: Run, root: pathlib.Path) -> None:
    (root / "a.txt").write_text("content")
    told = run("file_upload", path="a.txt", name="b.txt").structured_content or {}
    assert told["name"] == "b.txt"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "sub/../../secret.txt",
        "/etc/passwd",
        "link.txt",
        "linked/secret.txt",
        "chain.txt",
        "",
        ".",
        "sub",
        "none.txt",
        "x" * 5000,
        "~/secret.txt",
        "file:///etc/passwd",
    ],
)
def test_nothing_leads_out_of_a_root(
    run: Run, root: pathlib.Path, secret: pathlib.Path, fake: FakeTransport, path: str
) -> None:
    (root / "sub").mkdir()
    (root / "link.txt").symlink_to(secret)
    (root / "linked").symlink_to(root.parent)
    (root / "chain.txt").symlink_to(root / "link.txt")
    result = run("file_upload", path=path)
    assert result.is_error is True
    assert fake.requests == []
    assert run("file_upload", path=str(secret)).is_error is True


def test_a_root_whose_name_begins_as_the_roots_does_is_another_folder(
    run: Run, root: pathlib.Path
) -> None:
    beside = root.parent / "allowed-not"
    beside.mkdir()
    (beside / "a.txt").write_text("x")
    assert run("file_upload", path=str(beside / "a.txt")).is_error is True
    assert run("file_upload", path="../allowed-not/a.txt").is_error is True


def test_a_link_inside_a_root_is_followed(run: Run, root: pathlib.Path) -> None:
    (root / "a.txt").write_text("x")
    (root / "b.txt").symlink_to(root / "a.txt")
    assert run("file_upload", path="b.txt").is_error is False


def test_a_root_may_be_a_link_itself(client: KnowledgeClient, root: pathlib.Path) -> None:
    (root / "a.txt").write_text("x")
    link = root.parent / "link"
    link.symlink_to(root)
    tool = knowledge_tools(client, roots=[link])[0]
    assert tool.execute({"path": "a.txt"}).is_error is False
    assert tool.execute({"path": str(link / "a.txt")}).is_error is False


def test_a_file_is_looked_for_below_every_root(
    client: KnowledgeClient, root: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("x")
    tool = knowledge_tools(client, roots=[root, other])[0]
    assert tool.execute({"path": "b.txt"}).is_error is False


def test_a_pipe_is_refused_at_once(run: Run, root: pathlib.Path) -> None:
    os.mkfifo(root / "pipe")
    assert "no regular file" in run("file_upload", path="pipe").content


def test_a_refused_folder_leaves_no_descriptor_open(run: Run, root: pathlib.Path) -> None:
    (root / "sub").mkdir()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        assert run("file_upload", path="sub").is_error is True
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


def test_a_link_that_is_put_in_place_while_the_file_is_opened_is_noticed(
    run: Run,
    root: pathlib.Path,
    secret: pathlib.Path,
    fake: FakeTransport,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (root / "a.txt").write_text("x")
    real = os.open

    def swapped(path: Any, *rest: Any, **named: Any) -> int:
        if str(path).endswith("a.txt"):
            os.remove(root / "a.txt")
            (root / "a.txt").symlink_to(secret)
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "open", swapped)
    result = run("file_upload", path="a.txt")
    assert "changed while it was opened" in result.content
    assert fake.requests == []


def test_a_file_that_cannot_be_read_is_told(
    run: Run, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.txt").write_text("x")

    def refuse(*_: Any, **__: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert "it cannot be read: Permission denied" in run("file_upload", path="a.txt").content


def test_a_timeout_of_an_upload_is_not_taken_for_a_bad_file(
    root: pathlib.Path,
) -> None:
    from mistral_knowledge import RequestTimeoutError
    from mistral_knowledge.transports.fake import Scripted

    (root / "a.txt").write_text("x")
    late = Scripted(raises=RequestTimeoutError("too slow", "first_byte"))
    client = KnowledgeClient(transport=FakeTransport(script=[late]), retries=0)
    result = knowledge_tools(client, roots=[root])[0].execute({"path": "a.txt"})
    assert result.details["error"] == "RequestTimeoutError"


@pytest.mark.parametrize("roots", ["/tmp", b"/tmp", ["/nowhere/at/all"]])
def test_a_root_that_is_no_folder_is_refused(client: KnowledgeClient, roots: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="roots="):
        knowledge_tools(client, roots=roots)


def test_one_kit_serves_many_threads(tools: Dict[str, KnowledgeTool], root: pathlib.Path) -> None:
    (root / "a.txt").write_text("x")
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(tools["mistral_file_upload"].execute({"path": "a.txt"}))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.is_error for result in results] == [False] * 8
