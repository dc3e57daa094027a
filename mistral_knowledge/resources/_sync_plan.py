"""What has to be done so that a library holds what a folder holds. Pure: it looks, `_sync` acts.

A document is the same as a file if its content is: its hash, or where the server gives none that we
can compute, its name and size, unless the file was changed after the upload. The name is the file's
path within the folder.
"""

from __future__ import annotations

import collections
import string
from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
)

import attr

from ..models.folders import SyncStep

# By the number of hexadecimal digits; the API does not say which one it gives.
ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}
_HEX = frozenset(string.hexdigits)


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Local:
    """A file. modified: Unix time; hashes: of its content, where one was needed."""

    name: str
    path: str
    size: int
    modified: float
    hashes: FrozenSet[str] = frozenset()


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Remote:
    """A document. hash: None if it is none we can compute; created: Unix time; failed: no use."""

    id: str
    name: Optional[str]
    hash: Optional[str] = None
    size: Optional[int] = None
    created: Optional[float] = None
    failed: bool = False


def usable_hash(given: Optional[str]) -> Optional[str]:
    """A hash that can be compared, in lower case, or None."""
    if given and len(given) in ALGORITHMS and _HEX.issuperset(given):
        return given.lower()
    return None


def algorithms_by_size(remotes: Iterable[Remote]) -> Dict[Optional[int], Set[str]]:
    """Which hashes the documents of each size have; under None, those whose size is not known."""
    found: Dict[Optional[int], Set[str]] = collections.defaultdict(set)
    for remote in remotes:
        if remote.hash is not None:
            found[remote.size].add(ALGORITHMS[len(remote.hash)])
    return dict(found)


def plan(
    files: Sequence[Local],
    remotes: Sequence[Remote],
    delete: bool,
    counts: Callable[[str], bool],
    unreadable: FrozenSet[str] = frozenset(),
) -> List[SyncStep]:
    """The steps, in the order of names; deletions last.

    counts: whether a document of this name could be a file of the folder
    unreadable: names of files that cannot be compared; their documents stay
    """
    return list(_Plan(files, remotes, delete, unreadable).steps(counts))


class _Plan:
    def __init__(
        self,
        files: Sequence[Local],
        remotes: Sequence[Remote],
        delete: bool,
        unreadable: FrozenSet[str],
    ) -> None:
        self._files = sorted(files, key=lambda file: file.name)
        self._remotes = remotes
        self._delete = delete
        self._names = {file.name for file in files} | unreadable
        self._by_name = _grouped(remotes, lambda remote: remote.name)
        self._by_hash = _grouped(remotes, lambda remote: remote.hash)
        self._chosen = {file.name: self._same_content(file) for file in self._files}
        self._used = {remote.id for remote in self._chosen.values() if remote is not None}
        # A document that has the name of one of its files needs no other name.
        self._named = {
            remote.id for name, remote in self._chosen.items() if remote and remote.name == name
        }

    def steps(self, counts: Callable[[str], bool]) -> Iterator[SyncStep]:
        for file in self._files:
            remote = self._chosen[file.name]
            yield self._to_upload(file) if remote is None else self._already_in(file, remote)
        for remote in self._remotes:
            name = remote.name
            if name and name not in self._names and remote.id not in self._used and counts(name):
                yield SyncStep("delete" if self._delete else "keep", name, None, remote.id)

    def _same_content(self, file: Local) -> Optional[Remote]:
        found = [remote for one in file.hashes for remote in self._by_hash.get(one, ())]
        found = found or [
            remote for remote in self._by_name.get(file.name, ()) if _looks_the_same(file, remote)
        ]
        found.sort(key=lambda remote: (remote.failed, remote.name != file.name, remote.id))
        return found[0] if found else None

    def _to_upload(self, file: Local) -> SyncStep:
        old = self._old(file)
        return SyncStep("replace" if old else "upload", file.name, file.path, old_ids=old)

    def _already_in(self, file: Local, remote: Remote) -> SyncStep:
        # What cannot be used must not take the place of what can.
        old = () if remote.failed else self._old(file)
        action = "replace" if old else "same"
        if remote.id not in self._named and self._wants_name(file, remote):
            self._named.add(remote.id)
            return SyncStep("rename", file.name, file.path, remote.id, remote.name, old)
        return SyncStep(action, file.name, file.path, remote.id, None, old)

    def _wants_name(self, file: Local, remote: Remote) -> bool:
        """Whether the document is to take the file's name, and not to keep one of its own."""
        cut_off = file.name.rpartition("/")[2] == remote.name
        return self._delete or cut_off or not remote.name or remote.name in self._names

    def _old(self, file: Local) -> Tuple[str, ...]:
        same_name = self._by_name.get(file.name, ())
        return tuple(remote.id for remote in same_name if remote.id not in self._used)


def _looks_the_same(file: Local, remote: Remote) -> bool:
    if remote.hash is not None or remote.size != file.size or remote.created is None:
        return False
    return file.modified <= remote.created


def _grouped(
    remotes: Iterable[Remote], key: Callable[[Remote], Optional[str]]
) -> Dict[str, List[Remote]]:
    groups: Dict[str, List[Remote]] = collections.defaultdict(list)
    for remote in remotes:
        value = key(remote)
        if value is not None:
            groups[value].append(remote)
    return dict(groups)
