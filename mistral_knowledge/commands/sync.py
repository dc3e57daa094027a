"""`python -m mistral_knowledge sync`: bring a library in line with a folder.

The plan and the summary go to stdout, progress and failures to stderr.
"""

from __future__ import annotations

import argparse
import os
import uuid
from typing import Any, ContextManager, Optional

from ..client import KnowledgeClient
from ..errors import InvalidArgumentError
from ..models.folders import SyncReport
from ..notebook._terminal import harmless, line
from ..resources._sync import plan_for_new_library
from ._clients import network_client, offline_client
from ._many import counting


def add_parser(subparsers: Any) -> None:
    """Add the command and its options."""
    parser = subparsers.add_parser(
        "sync",
        help="bring a library in line with a folder",
        description="Upload what is new or changed in FOLDER, and leave what is the same. It may "
        "be stopped at any moment and run again. Exit code 1 if a file failed.",
    )
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument(
        "--library", metavar="NAME_OR_ID", required=True, help="made if there is none of this name"
    )
    parser.add_argument("--delete", action="store_true", help="delete what is not in the folder")
    parser.add_argument("--dry-run", action="store_true", help="only print what would be done")
    parser.add_argument(
        "--pattern", metavar="GLOB", action="append", help="such as '**/*.md'; may come twice"
    )
    parser.add_argument("--workers", type=int, default=8, help="uploads at once (default 8)")
    parser.add_argument(
        "--offline", metavar="DB", help="no key, no network: an API in this SQLite file"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    if not os.path.isdir(arguments.folder):
        raise InvalidArgumentError(f"{arguments.folder}: there is no such folder")
    if arguments.offline and _is_below(arguments.offline, arguments.folder):
        raise InvalidArgumentError(
            f"{arguments.offline} lies in {arguments.folder} and would be uploaded, changed by "
            "that, and uploaded again: keep the database elsewhere"
        )
    with _client(arguments.offline) as client:
        report = _synced(client, arguments)
    if arguments.dry_run:
        print(harmless(str(report)))
    else:
        for step in report.failed:
            line(str(step))
        print(report.summary())
    return 0 if report.ok else 1


def _synced(client: KnowledgeClient, arguments: argparse.Namespace) -> SyncReport:
    library_id = _library_id(client, arguments.library, arguments.dry_run)
    if library_id is None:
        line(f"there is no library {arguments.library!r} yet; it would be made")
        return plan_for_new_library(arguments.folder, arguments.pattern)
    with counting("files") as on_progress:
        return client.libraries.sync(
            arguments.folder,
            library_id,
            pattern=arguments.pattern,
            delete=arguments.delete,
            dry_run=arguments.dry_run,
            workers=arguments.workers,
            on_progress=on_progress,
        )


def _library_id(client: KnowledgeClient, given: str, dry_run: bool) -> Optional[str]:
    """The library of this id or name; made if need be, but not in a dry run."""
    if _is_id(given):
        return client.libraries.get(given).id
    found = client.libraries.find(given)
    if found is not None:
        return found.id
    if dry_run:
        return None
    made = client.libraries.create(given)
    line(f"made the library {given!r}: {made.id}")
    return made.id


def _is_id(given: str) -> bool:
    try:
        uuid.UUID(given)
    except ValueError:
        return False
    return True


def _is_below(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))


def _client(database: Optional[str]) -> ContextManager[KnowledgeClient]:
    return network_client() if database is None else offline_client(database=database)
