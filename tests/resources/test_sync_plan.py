"""What a sync decides, without files, documents or requests."""

from __future__ import annotations

import hashlib
from typing import Any, List, Optional, Tuple

import pytest

from mistral_knowledge.models.folders import SyncStep
from mistral_knowledge.resources._folder import Patterns
from mistral_knowledge.resources._sync_plan import (
    Local,
    Remote,
    algorithms_by_size,
    plan,
    usable_hash,
)


def digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def local(name: str, content: str = "", modified: float = 0.0, hashed: bool = True) -> Local:
    hashes = frozenset([digest(content)]) if hashed else frozenset()
    return Local(name, f"/f/{name}", len(content), modified, hashes)


def remote(number: int, name: Optional[str], content: Optional[str] = None, **more: Any) -> Remote:
    known = {} if content is None else {"hash": digest(content), "size": len(content)}
    return Remote(f"d{number}", name, **{**known, **more})


def planned(
    files: List[Local], remotes: List[Remote], delete: bool = False, **more: Any
) -> List[Tuple[Any, ...]]:
    steps = plan(files, remotes, delete, Patterns(more.pop("pattern", None)).match, **more)
    return [(step.action, step.name, step.document_id, step.old_ids) for step in steps]


def test_a_new_file_is_uploaded_and_one_that_is_there_is_left() -> None:
    files = [local("b", "B"), local("a", "A")]
    assert planned(files, [remote(1, "a", "A")]) == [
        ("same", "a", "d1", ()),
        ("upload", "b", None, ()),
    ]


def test_a_changed_file_replaces_its_old_document() -> None:
    assert planned([local("a", "new")], [remote(1, "a", "old")]) == [
        ("replace", "a", None, ("d1",))
    ]


def test_an_old_document_that_a_killed_run_left_is_replaced_without_an_upload() -> None:
    remotes = [remote(1, "a", "old"), remote(2, "a", "new")]
    assert planned([local("a", "new")], remotes) == [("replace", "a", "d2", ("d1",))]


def test_a_document_that_is_there_twice_is_there_once_afterwards() -> None:
    remotes = [remote(1, "a", "A"), remote(2, "a", "A")]
    assert planned([local("a", "A")], remotes) == [("replace", "a", "d1", ("d2",))]


def test_a_new_document_that_could_not_be_processed_does_not_replace_the_old() -> None:
    remotes = [remote(1, "a", "old"), remote(2, "a", "new", failed=True)]
    assert planned([local("a", "new")], remotes) == [("same", "a", "d2", ())]


def test_what_is_not_in_the_folder_is_deleted_only_when_asked() -> None:
    remotes = [remote(1, "gone", "G")]
    assert planned([local("a", "A")], remotes) == [
        ("upload", "a", None, ()),
        ("keep", "gone", "d1", ()),
    ]
    assert planned([local("a", "A")], remotes, delete=True)[1:] == [("delete", "gone", "d1", ())]


@pytest.mark.parametrize("name", [".hidden", "a/.git/x", "notes.txt", None, ""])
def test_what_the_pattern_does_not_mean_is_never_touched(name: Optional[str]) -> None:
    found = planned([], [remote(1, name, "G")], delete=True, pattern="**/*.md")
    assert found == []


def test_the_document_of_a_file_that_cannot_be_read_stays() -> None:
    remotes = [remote(1, "locked", "L")]
    assert planned([], remotes, delete=True, unreadable=frozenset(["locked"])) == []


def test_a_file_that_moved_keeps_its_document_under_the_old_name_unless_deleting() -> None:
    files, remotes = [local("new", "A")], [remote(1, "old", "A")]
    assert planned(files, remotes) == [("same", "new", "d1", ())]
    assert planned(files, remotes, delete=True) == [("rename", "new", "d1", ())]


def test_files_that_changed_places_change_names() -> None:
    files = [local("a", "B"), local("b", "A")]
    remotes = [remote(1, "a", "A"), remote(2, "b", "B")]
    assert planned(files, remotes) == [("rename", "a", "d2", ()), ("rename", "b", "d1", ())]


def test_a_name_whose_folders_the_server_cut_off_is_made_whole() -> None:
    assert planned([local("x/a", "A")], [remote(1, "a", "A")]) == [("rename", "x/a", "d1", ())]


def test_files_of_the_same_content_share_a_document() -> None:
    files = [local("a", "A"), local("b", "A"), local("c", "A")]
    assert planned(files, [remote(1, "b", "A")], delete=True) == [
        ("same", "a", "d1", ()),
        ("same", "b", "d1", ()),
        ("same", "c", "d1", ()),
    ]


def test_of_files_with_the_same_content_one_gives_its_name() -> None:
    files = [local("a", "A"), local("b", "A")]
    found = planned(files, [remote(1, "old", "A")], delete=True)
    assert [step[0] for step in found] == ["rename", "same"]


def test_the_old_content_that_another_file_has_now_is_not_deleted() -> None:
    files = [local("a", "new"), local("b", "A")]
    assert planned(files, [remote(1, "a", "A")]) == [
        ("upload", "a", None, ()),
        ("rename", "b", "d1", ()),
    ]


@pytest.mark.parametrize(
    ("size", "modified", "created", "action"),
    [
        (1, 10.0, 20.0, "same"),
        (1, 20.0, 20.0, "same"),
        (1, 30.0, 20.0, "replace"),
        (2, 10.0, 20.0, "replace"),
        (None, 10.0, 20.0, "replace"),
        (1, 10.0, None, "replace"),
    ],
)
def test_without_a_hash_name_size_and_time_decide(
    size: Optional[int], modified: float, created: Optional[float], action: str
) -> None:
    remotes = [remote(1, "a", size=size, created=created)]
    found = planned([local("a", "A", modified, hashed=False)], remotes)
    assert [step[0] for step in found] == [action]


def test_without_a_hash_another_name_is_another_document() -> None:
    remotes = [remote(1, "b", size=1, created=20.0)]
    found = planned([local("a", "A", 10.0, hashed=False)], remotes)
    assert found[0] == ("upload", "a", None, ())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("A" * 64, "a" * 64),
        ("0" * 32, "0" * 32),
        ("0" * 33, None),
        ("g" * 64, None),
        ("", None),
        (None, None),
        ("sha256:abc", None),
    ],
)
def test_only_a_hash_that_we_can_compute_counts(given: Any, expected: Any) -> None:
    assert usable_hash(given) == expected


def test_only_hashes_of_documents_of_the_same_size_are_needed() -> None:
    remotes = [
        Remote("1", "a", "0" * 64, 5),
        Remote("2", "b", "0" * 32, 5),
        Remote("3", "c", "0" * 40, None),
        Remote("4", "d", None, 5),
    ]
    assert algorithms_by_size(remotes) == {5: {"sha256", "md5"}, None: {"sha1"}}


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        (None, "a/b/c.md", True),
        ("**/*", "a/b/c.md", True),
        ("*", "a.md", True),
        ("*.md", "a.md", True),
        ("*.md", "x/a.md", False),
        ("**/*.md", "a.md", True),
        ("**/*.md", "x/y/a.md", True),
        ("x/**", "x/y/a.md", True),
        ("x/**/a.md", "x/a.md", True),
        ("x/*/a.md", "x/y/z/a.md", False),
        ("[ab].md", "b.md", True),
        ("*.MD", "a.md", False),
        (["*.md", "*.txt"], "a.txt", True),
        (None, ".a.md", False),
        (".*", ".a.md", False),
        ("**", ".git/a.md", False),
    ],
)
def test_patterns(pattern: Any, name: str, expected: bool) -> None:
    assert Patterns(pattern).match(name) is expected


def test_a_step_says_what_it_is_in_a_line() -> None:
    assert [
        str(SyncStep("upload", "a")),
        str(SyncStep("rename", "b", old_name="a")),
        str(SyncStep("replace", "a", status="failed", error=OSError("no"))),
    ] == ["upload   a", "rename   a -> b", "failed   a: no"]
