"""Where our requests differ from the official SDK's, and why. All else is the same."""

from __future__ import annotations

from typing import Any, List, Tuple

import attr

from .operations import AWKWARD

ABSENT = "(not sent)"


@attr.s(auto_attribs=True, frozen=True)
class Difference:
    """A field of a request that is not the same.

    operations: the names of the operations, or what they begin with
    field: as `recording` names it; theirs, ours: what is sent
    """

    operations: Tuple[str, ...]
    field: str
    theirs: Any
    ours: Any
    why: str


_DEFAULT = "it is the API's default, and we send nothing that was not asked for"
_APPENDING = ("conversations.append", "conversations.restart")
_ROUNDS = (
    "conversations.start and append of a function's result",
    "conversations.start and append of a confirmation",
)

DIFFERENCES: List[Difference] = [
    Difference(
        ("files.upload",),
        "part visibility content",
        b"workspace",
        b"user",
        "an upload is visible to its user only, unless the caller asks otherwise",
    ),
    *(
        Difference(
            (f"files.upload of a{ending}",),
            "part file type",
            "application/octet-stream",
            kind,
            "types of common files do not depend on the tables of the machine",
        )
        for ending, kind in (
            (".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            (".jsonl", "application/jsonl"),
            (".md", "text/markdown"),
        )
    ),
    Difference(
        (f"files.upload of {AWKWARD}",),
        "part file filename",
        "Añ %221%22; \\\\ 😀%22.txt",
        "Añ %221%22; \\ 😀%22.txt",
        "browsers, whose rules for forms both follow, leave a backslash as it is",
    ),
    Difference(
        ("files.list", "files.list with filters"), "query include_total", ["true"], ABSENT, _DEFAULT
    ),
    Difference(("files.get_signed_url",), "query expiry", ["24"], ABSENT, _DEFAULT),
    Difference(
        ("libraries.list", "libraries.list page by page", "libraries.list with a search"),
        "query page",
        ["0"],
        ABSENT,
        "it is deprecated, and means nothing beside page_token",
    ),
    Difference(("documents.list",), "query sort_by", ["created_at"], ABSENT, _DEFAULT),
    Difference(("documents.list",), "query sort_order", ["desc"], ABSENT, _DEFAULT),
    Difference(
        (
            "chat.complete",
            "chat.complete with messages and a function",
            "conversations.start",
            "conversations.start with an agent",
            "conversations.start with entries",
            "conversations.append",
            "conversations.restart",
            *_ROUNDS,
        ),
        "json stream",
        False,
        ABSENT,
        _DEFAULT,
    ),
    Difference(
        ("chat.stream",),
        "json stream_options.include_usage",
        ABSENT,
        True,
        "usage has to be asked for; where a server refuses that, we ask again without it",
    ),
    *(
        Difference(
            (*_APPENDING, *(f"{name}_stream" for name in _APPENDING), *_ROUNDS),
            f"json {name}",
            value,
            ABSENT,
            _DEFAULT,
        )
        for name, value in (("store", True), ("handoff_execution", "server"))
    ),
    *(
        Difference(
            ("conversations.start with entries",),
            f"json inputs.0.{name}",
            value,
            ABSENT,
            "entries are sent as they were given; the API fills in what they leave out",
        )
        for name, value in (("object", "entry"), ("type", "message.input"), ("prefix", False))
    ),
    Difference(_ROUNDS[:1], "json inputs.0.object", "entry", ABSENT, _DEFAULT),
    Difference(
        ("conversations.list",),
        "query metadata",
        ['"~?~unset~?~sentinel~?~"'],
        ABSENT,
        "a slip of the official SDK: it sends its own mark for what was not given",
    ),
]
