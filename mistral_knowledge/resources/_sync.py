"""A library brought in line with a folder: see `Libraries.sync`."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Iterator, List, Optional, Tuple, Union

import attr

from .._caller import Caller, Options
from .._checks import refuse
from ..abort import AbortSignal
from ..errors import InvalidArgumentError, UploadsAbortedError
from ..models.folders import SyncReport, SyncStep
from ._arguments import CallOptions
from ._folder import Found, Path, Pattern, Patterns, files_in
from ._pool import Left, Pool, each
from ._sync_act import Task, actor
from ._sync_look import looker, remote_of
from ._sync_plan import Local, Remote, plan
from ._upload_many import checked_workers, gated
from ._upload_run import OnFiles
from .documents import Documents, seconds_to_wait

# In this order: nothing is deleted before everything else went well.
_FIRST, _LAST = ("upload", "replace", "rename"), ("delete",)


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Sync:
    """How to bring a library in line with a folder."""

    caller: Caller
    library_id: str
    patterns: Patterns
    delete: bool
    workers: int
    wait: Union[bool, float]
    on_progress: Optional[OnFiles]
    options: CallOptions
    signal: Optional[AbortSignal]

    @classmethod
    def of(
        cls,
        caller: Caller,
        library_id: str,
        pattern: Pattern,
        delete: bool,
        workers: int,
        wait: Union[bool, float],
        on_progress: Optional[OnFiles],
        options: CallOptions,
    ) -> Sync:
        """From the arguments of a caller, checked."""
        seconds_to_wait(wait)
        Options(**options)
        signal = options.pop("signal", None)
        return cls(
            gated(caller, options),
            library_id,
            Patterns(pattern),
            delete,
            checked_workers(workers),
            wait,
            on_progress,
            options,
            signal,
        )

    def run(self, folder: Path, dry_run: bool) -> SyncReport:
        """Look, plan, and unless it is a dry run, act."""
        place = _checked_folder(folder)
        steps = self._planned(place)
        if not dry_run:
            steps = self._carried_out(steps)
        return SyncReport(place, self.library_id, dry_run, steps)

    def _planned(self, folder: str) -> List[SyncStep]:
        remotes = self._remotes()
        found = files_in(folder, self.patterns)
        files, failed = _looked_at(found, remotes, self.workers, self.signal)
        unreadable = frozenset(step.name for step in failed)
        steps = plan(files, remotes, self.delete, self.patterns.match, unreadable)
        if not files and not failed and any(step.action == "delete" for step in steps):
            raise InvalidArgumentError(
                f"{folder} has no file that counts, so delete=True would empty the library: "
                "look at the folder and the pattern, or delete the library"
            )
        return failed + steps

    def _remotes(self) -> List[Remote]:
        # Oldest first: what others add meanwhile comes behind, and moves nothing under the paging.
        options: CallOptions = {**self.options, "signal": self.signal}
        listing = Documents(self.caller).list(
            self.library_id, sort_by="created_at", sort_order="asc", **options
        )
        return [remote_of(document) for document in listing]

    def _carried_out(self, planned: List[SyncStep]) -> List[SyncStep]:
        steps = list(planned)
        act = actor(self.caller, self.library_id, self.wait, self.options)
        first, last = _tasks(steps, _FIRST), _tasks(steps, _LAST)
        progress = _Progress(self.on_progress, len(first) + len(last))
        self._through(act, first, steps, progress)
        self._through(act, _what_may_go(steps, last), steps, progress)
        return [
            attr.evolve(step, status="done") if step.status == "planned" else step for step in steps
        ]

    def _through(
        self,
        act: Callable[[Task, AbortSignal], Task],
        tasks: List[Task],
        steps: List[SyncStep],
        progress: _Progress,
    ) -> None:
        pool = Pool(act, tasks, self.workers, self.signal)
        for number, step in _until_aborted(pool, progress.names):
            steps[number] = step
            progress.add(step)


def plan_for_new_library(folder: Path, pattern: Pattern = None) -> SyncReport:
    """What a sync with a library that is still to be made would do."""
    place, patterns = _checked_folder(folder), Patterns(pattern)
    files, failed = _looked_at(files_in(place, patterns), [], 1, None)
    steps = failed + plan(files, [], False, patterns.match)
    return SyncReport(place, None, True, steps)


def _checked_folder(folder: Path) -> str:
    if not isinstance(folder, (str, os.PathLike)):
        refuse("folder", folder, "the path of a folder")
    place = os.fsdecode(folder)
    if not os.path.isdir(place):
        raise InvalidArgumentError(f"{place}: there is no such folder")
    return place


def _looked_at(
    found: Iterable[Found], remotes: List[Remote], workers: int, signal: Optional[AbortSignal]
) -> Tuple[List[Local], List[SyncStep]]:
    """The files that can be compared, and a failed step for each that cannot."""
    files: List[Local] = []
    failed: List[SyncStep] = []
    for seen in _until_aborted(Pool(looker(remotes), found, workers, signal), []):
        if isinstance(seen, Local):
            files.append(seen)
        else:
            failed.append(seen)
    return files, sorted(failed, key=lambda step: step.name)


class _Progress:
    def __init__(self, tell: Optional[OnFiles], total: int) -> None:
        self._tell = tell
        self._total = total
        self.names: List[str] = []

    def add(self, step: SyncStep) -> None:
        self.names.append(step.name)
        if self._tell is not None:
            self._tell(len(self.names), self._total)


def _until_aborted(pool: Pool[Any, Any], done: List[str]) -> Iterator[Any]:
    try:
        yield from each(pool)
    except Left:
        names = [getattr(item, "name", None) or item[1].name for item in pool.under_way()]
        raise UploadsAbortedError.of(done, names, pool.reason) from None


def _tasks(steps: List[SyncStep], actions: Tuple[str, ...]) -> List[Task]:
    return [
        (number, step)
        for number, step in enumerate(steps)
        if step.status == "planned" and step.action in actions
    ]


def _what_may_go(steps: List[SyncStep], deletions: List[Task]) -> List[Task]:
    """Nothing after a failure; and nothing that an upload just found to be its own content."""
    risky = any(step.status == "failed" for step in steps)
    used = {step.document_id for step in steps if step.action != "delete"}
    for number, step in deletions:
        if risky:
            steps[number] = attr.evolve(step, status="left_out")
        elif step.document_id in used:
            steps[number] = attr.evolve(step, action="keep")
    return [task for task in deletions if steps[task[0]] is task[1]]
