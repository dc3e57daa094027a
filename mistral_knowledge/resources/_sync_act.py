"""One step of a sync, carried out. Each may be cut off at any moment and done again."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple, Union

import attr

from .._caller import Call, Caller, Options
from ..abort import AbortSignal
from ..errors import ConfigurationError, KnowledgeError, NotFoundError, ProcessingError
from ..models.folders import SyncStep
from ._arguments import CallOptions
from ._folder import Found
from ._upload_many import upload_named
from .documents import Documents

# Where the step is in the plan, and the step.
Task = Tuple[int, SyncStep]


def actor(
    caller: Caller, library_id: str, wait: Union[bool, float], options: CallOptions
) -> Callable[[Task, AbortSignal], Task]:
    """What a worker does with a step: gives it back done, or failed."""

    def act(task: Task, signal: AbortSignal) -> Task:
        number, step = task
        try:
            act_on = _Step(caller, library_id, wait, {**options, "signal": signal})
            return number, attr.evolve(act_on.done(step), status="done")
        except ConfigurationError:
            raise  # as in `uploader`: it is not about this file
        except (KnowledgeError, OSError) as error:
            signal.raise_if_aborted()
            return number, attr.evolve(step, status="failed", error=error)

    return act


class _Step:
    def __init__(
        self, caller: Caller, library_id: str, wait: Union[bool, float], options: Dict[str, Any]
    ) -> None:
        self._caller = caller
        self._documents = Documents(caller)
        self._library_id = library_id
        self._wait = wait
        self._options = options

    def done(self, step: SyncStep) -> SyncStep:
        if step.action == "delete":
            self._drop(step.document_id)
        elif step.action == "rename":
            self._documents.update(
                self._library_id, step.document_id, name=step.name, **self._options
            )
        elif step.document_id is None:
            step = self._uploaded(step)
        for old in step.old_ids:
            # An upload may find that its content is that of the old one after all.
            if old != step.document_id:
                self._drop(old)
        return step

    def _uploaded(self, step: SyncStep) -> SyncStep:
        file = Found(step.path, step.name)
        document = upload_named(self._documents, self._library_id, file, self._wait, self._options)
        if step.old_ids and document.is_failed:
            words = f"the server could not process it ({document.status}), so the old one stays"
            raise ProcessingError(words, document)
        found = document.created is False and not step.old_ids
        action = "same" if found or document.id in step.old_ids else step.action
        return attr.evolve(step, action=action, document_id=document.id)

    def _drop(self, document_id: Optional[str]) -> None:
        path = f"/v1/libraries/{self._library_id}/documents/{document_id}"
        # Unlike a caller's own DELETE, this may run twice: gone is gone.
        call = Call("DELETE", path, repeatable=True)
        try:
            self._caller.json(call, Options(**self._options))
        except NotFoundError:
            return
