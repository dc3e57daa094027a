"""What came of many files: of each upload, and of bringing a library in line with a folder."""

import collections
from typing import Any, Dict, List, Optional, Tuple

import attr

from .documents import Document

UPLOADED, ALREADY_THERE, FAILED = "uploaded", "already_there", "failed"

_VERBS = ("upload", "replace", "rename", "delete", "keep")
_PAST = {
    "upload": "uploaded",
    "replace": "replaced",
    "rename": "renamed",
    "delete": "deleted",
    "same": "the same",
    "keep": "not in the folder, kept",
}
_WIDTH = max(map(len, (*_VERBS, "failed")))


@attr.s(auto_attribs=True, frozen=True, slots=True)
class UploadOutcome:
    """What came of one file of `client.documents.upload_many`.

    path: the file, as it was given
    status: `uploaded`, `already_there` (the same content was in the library), or `failed`
    document: what is in the library; for a failed one only if it got there
    error: why it failed: a KnowledgeError or an OSError; else None
    """

    path: Any
    status: str
    document: Optional[Document] = None
    error: Optional[Exception] = None


@attr.s(auto_attribs=True, frozen=True, slots=True)
class SyncStep:
    """One thing that `client.libraries.sync` does, did, or would do.

    action: `upload` (new), `replace` (changed), `rename` (the content is there under another
        name), `same` (nothing to do), `delete`, or `keep` (not in the folder, and not deleted)
    name: the document's name: the file's path within the folder, with `/`
    path: the file, or None where there is none
    document_id: the document it is about, where it is known
    old_name: what a `rename` changes
    old_ids: the documents that are deleted once this one is in
    status: `planned`, `done`, `failed`, or `left_out` (a deletion that was not risked)
    error: why it failed
    """

    action: str
    name: str
    path: Optional[str] = None
    document_id: Optional[str] = None
    old_name: Optional[str] = None
    old_ids: Tuple[str, ...] = ()
    status: str = "planned"
    error: Optional[Exception] = None

    def __str__(self) -> str:
        verb = "failed" if self.status == "failed" else self.action
        was = f"{self.old_name} -> " if self.old_name else ""
        why = f": {self.error}" if self.error is not None else ""
        return f"{verb:<{_WIDTH}}  {was}{self.name}{why}"


@attr.s(auto_attribs=True, frozen=True, slots=True)
class SyncReport:
    """What `client.libraries.sync` did, or with `dry_run` would do; `print` it to read it.

    folder: the folder; library_id: the library, None where it is still to be made
    dry_run: whether nothing was done
    steps: every step, the files that are the same included
    """

    folder: str
    library_id: Optional[str]
    dry_run: bool
    steps: List[SyncStep] = attr.ib(repr=False)

    @property
    def ok(self) -> bool:
        """Whether nothing failed and nothing was left out."""
        return all(step.status in ("planned", "done") for step in self.steps)

    @property
    def failed(self) -> List[SyncStep]:
        """The steps that failed; `.error` says why."""
        return [step for step in self.steps if step.status == "failed"]

    @property
    def counts(self) -> Dict[str, int]:
        """How many steps of each action are done (planned, in a dry run), and how many `failed`."""
        counts = collections.Counter(dict.fromkeys(_PAST, 0))
        counts.update(
            step.action if step.status in ("planned", "done") else step.status
            for step in self.steps
        )
        return dict(counts)

    def summary(self) -> str:
        """The counts in one line."""
        counts = self.counts
        words = [f"{counts[action]} {self._past(action)}" for action in _PAST if counts[action]]
        words += [f"{counts['failed']} failed"] if counts.get("failed") else []
        if counts.get("left_out"):
            words.append(f"{counts['left_out']} not deleted, because something failed")
        return ", ".join(words) or "nothing to do"

    def __str__(self) -> str:
        lines = [str(step) for step in self.steps if step.action != "same" or step.error]
        return "\n".join([*lines, self.summary()])

    def _past(self, action: str) -> str:
        to_do = self.dry_run and action in ("upload", "replace", "rename", "delete")
        return f"to {action}" if to_do else _PAST[action]
