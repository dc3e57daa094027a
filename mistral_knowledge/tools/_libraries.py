"""The tools for libraries: `mistral_library_create`, `mistral_library_list`."""

from __future__ import annotations

import itertools
from typing import List, Optional

import attr

from ._declaring import Declaration, Outcome, Task
from ._fields import field
from ._outputs import LibraryOutput, listed

SEARCH = "Only those with this in their name."
LIMIT = "How many at most."


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class LibraryCreate:
    """The arguments of `mistral_library_create`."""

    name: str = field("What to call it.", minLength=1)
    description: Optional[str] = field("What it is for.", None)


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class LibraryList:
    """The arguments of `mistral_library_list`."""

    search: Optional[str] = field(SEARCH, None, minLength=1)
    limit: int = field(LIMIT, 50, minimum=1, maximum=500)


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class LibrariesOutput:
    """What `mistral_library_list` gives."""

    libraries: List[LibraryOutput] = field("The libraries.")
    more: bool = field("Whether there are more than these.")


def _create(task: Task, asked: LibraryCreate) -> Outcome:
    made = task.client.libraries.create(
        asked.name, description=asked.description, signal=task.signal
    )
    words = f"Created the library {made.name} with the id {made.id}. It holds no documents yet."
    return Outcome(words, LibraryOutput.of(made), {"library_id": made.id})


def _list(task: Task, asked: LibraryList) -> Outcome:
    listing = task.client.libraries.list(
        search=asked.search, page_size=min(asked.limit, 100), signal=task.signal
    )
    found = list(itertools.islice(listing, asked.limit + 1))
    shown = [LibraryOutput.of(one) for one in found[: asked.limit]]
    output = LibrariesOutput(libraries=shown, more=len(found) > asked.limit)
    words = listed("libraries", [_line(one) for one in shown], output.more)
    return Outcome(words, output, {"libraries": len(shown), "more": output.more})


def _line(library: LibraryOutput) -> str:
    about = f": {library.description}" if library.description else ""
    holds = f", {library.documents} documents" if library.documents is not None else ""
    return f"- {library.name} (id {library.id}{holds}){about}"


LIBRARY_CREATE = Declaration(
    name="mistral_library_create",
    title="Create a library",
    description="Create a library: a named set of documents that questions can be asked of. "
    "Look with mistral_library_list first; a second library of the same name is possible.",
    arguments=LibraryCreate,
    output=LibraryOutput,
    run=_create,
)

LIBRARY_LIST = Declaration(
    name="mistral_library_list",
    title="List libraries",
    description="List the libraries that can be asked, with their ids.",
    arguments=LibraryList,
    output=LibrariesOutput,
    run=_list,
    read_only=True,
    idempotent=True,
)
