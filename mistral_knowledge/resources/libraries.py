"""Libraries: named sets of documents that questions are asked of (`/v1/libraries`).

https://docs.mistral.ai/api/#tag/beta.libraries
"""

from __future__ import annotations

import builtins
import uuid
from typing import TYPE_CHECKING, Any, Optional, Union

from .._caller import Call, Caller, Options
from .._checks import callables, number, refuse, switches, texts
from ..errors import InvalidArgumentError
from ..models._convert import parse
from ..models.folders import SyncReport
from ..models.libraries import Library, Share
from ._arguments import CallOptions, LibraryRef, id_of
from ._folder import Path, Pattern
from ._listing import Listing, Page, items_of, next_number
from ._progress import with_bar
from ._sync import Sync
from ._upload_run import OnFiles

if TYPE_CHECKING:
    from ._arguments import Unpack


class Libraries:
    """`client.libraries`. Every method also takes `timeout=`, `retries=` and `signal=`.

    All raise TransportError, APIError and its children, AbortedError, ConfigurationError.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        name: str,
        *,
        description: Optional[str] = None,
        owner_type: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> Library:
        """Make a library (`POST /v1/libraries`).

        owner_type: `User` or `Workspace`; the server's default if left out
        """
        body = {"name": _name(name), **texts(description=description, owner_type=owner_type)}
        call = Call("POST", "/v1/libraries", json=body)
        return parse(Library, self._caller.json(call, Options(**options)))

    def list(
        self,
        *,
        search: Optional[str] = None,
        page_size: int = 100,
        **options: Unpack[CallOptions],
    ) -> Listing[Library]:
        """All libraries you may see (`GET /v1/libraries`); lazily, page by page.

        search: in the name, case-insensitive; page_size: items a request, 1 to 100
        """
        size, asked = number("page_size", page_size, 1), texts(search=search).items()
        opts = Options(**options)

        def fetch(token: Any) -> Page[Library]:
            where = ("page", token) if isinstance(token, int) else ("page_token", token)
            query = [("page_size", size), where, *asked]
            payload = self._caller.json(Call("GET", "/v1/libraries", query=query), opts)
            return Page(items_of(payload, Library), _next_token(payload, token))

        return Listing(fetch, None)

    def find(self, name: str, **options: Unpack[CallOptions]) -> Optional[Library]:
        """The library of just this name, the oldest of several; or None (`GET /v1/libraries`)."""
        matching = [one for one in self.list(search=_name(name), **options) if one.name == name]
        dated = sorted(matching, key=lambda one: (one.created_at is None, one.created_at or 0))
        return dated[0] if dated else None

    def get_or_create(
        self, name: str, *, description: Optional[str] = None, **options: Unpack[CallOptions]
    ) -> Library:
        """The library of this name; made, with `description`, if there is none.

        `GET /v1/libraries`, then perhaps `POST /v1/libraries`.

        Two programs that do this at the same moment may each make one.
        """
        texts(description=description)
        found = self.find(name, **options)
        return found or self.create(name, description=description, **options)

    def get(self, library: LibraryRef, **options: Unpack[CallOptions]) -> Library:
        """One library (`GET /v1/libraries/{id}`)."""
        return parse(Library, self._caller.json(Call("GET", _path(library)), Options(**options)))

    def update(
        self,
        library: LibraryRef,
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> Library:
        """Rename or describe a library anew (`PATCH /v1/libraries/{id}`)."""
        body = texts(name=name, description=description)
        if not body:
            raise InvalidArgumentError("nothing to update: give name= or description=")
        call = Call("PATCH", _path(library), json=body)
        return parse(Library, self._caller.json(call, Options(**options)))

    def delete(self, library: LibraryRef, **options: Unpack[CallOptions]) -> None:
        """Delete a library with all its documents (`DELETE /v1/libraries/{id}`)."""
        self._caller.json(Call("DELETE", _path(library)), Options(**options))

    def sync(
        self,
        folder: Path,
        library: LibraryRef,
        *,
        pattern: Pattern = None,
        delete: bool = False,
        dry_run: bool = False,
        workers: int = 8,
        wait: Union[bool, float] = False,
        on_progress: Optional[OnFiles] = None,
        progress: bool = False,
        **options: Unpack[CallOptions],
    ) -> SyncReport:
        """Bring a library in line with a folder: upload what is new or changed, and only that.

        It lists the documents, then uploads, renames and deletes as `client.documents` does.

        pattern: which files count, such as `**/*.md`, or several in a list; hidden ones never do
        delete: also delete documents that are not in the folder (of those that `pattern` means)
        dry_run: change nothing; the report is the plan, and `print(report)` shows it
        workers: how many files are uploaded at once, 1 to 100
        wait: as in `documents.upload`; then a changed file's old document stays until the new one
            is processed
        on_progress: called as `on_progress(done, total)`, in steps of the plan
        progress: show a bar, on stderr or in the notebook, where the [notebook] extra is there
        timeout, retries: for each request; signal: stops all of it

        A document's name is the file's path within the folder, with `/`. The old document of a
        changed file is deleted once the new one is in. It may be killed at any moment and run
        again. Failures of single files are in the report: see its `ok`.
        Raises InvalidArgumentError, UploadsAbortedError, ConfigurationError, OSError if the folder
        cannot be read, and APIError or TransportError if the documents cannot be listed.
        """
        library_id = id_of(library, Library)
        switches(dry_run=dry_run, delete=delete)
        callables(on_progress=on_progress)
        with with_bar(progress, "sync", " steps", on_progress) as told:
            how = (pattern, delete, workers, wait, told, options)
            return Sync.of(self._caller, library_id, *how).run(folder, dry_run)

    def shares(self, library: LibraryRef, **options: Unpack[CallOptions]) -> builtins.list[Share]:
        """With whom a library is shared (`GET /v1/libraries/{id}/share`)."""
        call = Call("GET", f"{_path(library)}/share")
        return items_of(self._caller.json(call, Options(**options)), Share)

    def share(
        self,
        library: LibraryRef,
        share_with: Union[str, uuid.UUID],
        *,
        level: str = "Viewer",
        share_with_type: str = "User",
        org_id: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> Share:
        """Share a library, or change how (`PUT /v1/libraries/{id}/share`); owners only.

        share_with: the id of a user, workspace or organisation
        level: `Viewer` (default) or `Editor`; share_with_type: `User`, `Workspace` or `Org`
        """
        body = {**texts(level=level), **_partner(share_with, share_with_type, org_id)}
        call = Call("PUT", f"{_path(library)}/share", json=body)
        return parse(Share, self._caller.json(call, Options(**options)))

    def unshare(
        self,
        library: LibraryRef,
        share_with: Union[str, uuid.UUID],
        *,
        share_with_type: str = "User",
        org_id: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> None:
        """End the sharing with somebody (`DELETE /v1/libraries/{id}/share`); owners only."""
        body = _partner(share_with, share_with_type, org_id)
        call = Call("DELETE", f"{_path(library)}/share", json=body)
        self._caller.json(call, Options(**options))


def _path(library: LibraryRef) -> str:
    return f"/v1/libraries/{id_of(library, Library)}"


def _name(name: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidArgumentError("a library needs a name")
    return name


def _partner(share_with: Union[str, uuid.UUID], kind: str, org_id: Optional[str]) -> Any:
    if not isinstance(share_with, (str, uuid.UUID)):
        refuse("share_with", share_with, "the id of a user, workspace or organisation")
    return {"share_with_uuid": str(share_with), **texts(share_with_type=kind, org_id=org_id)}


def _next_token(payload: Any, token: Any) -> Any:
    """The next page's token, or its number on servers that only know numbered pages."""
    following = payload.get("next_page_token") if isinstance(payload, dict) else None
    if following and isinstance(following, (str, int)):
        return str(following)
    if isinstance(token, str):
        return None
    return next_number(payload, token or 0)
