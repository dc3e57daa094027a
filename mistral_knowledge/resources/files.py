"""Files: what is uploaded for batch jobs, fine-tuning and OCR (`/v1/files`).

https://docs.mistral.ai/api/#tag/files
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union, overload

from .._caller import Call, Caller, Options
from .._checks import items, number, numbers, texts
from .._multipart import MultipartBody, OnProgress
from .._secrets import SignedUrl
from .._uploads import FileInput, open_upload
from ..errors import InvalidArgumentError
from ..models._convert import parse
from ..models.files import File
from ._arguments import CallOptions, FileRef, id_of
from ._download import save, signed_url_of, target_of, whole
from ._listing import Listing, Page, items_of
from ._progress import with_bar

if TYPE_CHECKING:
    from ._arguments import Unpack

_VISIBILITIES = ("user", "workspace")


class Files:
    """`client.files`. Every method also takes `timeout=`, `retries=` and `signal=`.

    All raise TransportError, APIError and its children, AbortedError, ConfigurationError.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def upload(
        self,
        file: FileInput,
        *,
        purpose: Optional[str] = None,
        visibility: str = "user",
        expiry: Optional[int] = None,
        name: Optional[str] = None,
        mime_type: Optional[str] = None,
        on_progress: Optional[OnProgress] = None,
        progress: bool = False,
        **options: Unpack[CallOptions],
    ) -> File:
        """Upload a file (`POST /v1/files`, up to 512 MB); it streams, and takes no memory.

        file: a path, bytes with `name=`, a binary file object, or (name, content[, mime type])
        purpose: `ocr`, `batch` or `fine-tune`; the server's default if left out
        visibility: `user` (default: only you; the API's own default is `workspace`) or `workspace`
        expiry: as the API takes it; left out by default
        on_progress: called as `on_progress(sent, total)`, in bytes
        progress: show a bar, on stderr or in the notebook, where the [notebook] extra is there

        Raises InvalidArgumentError for what cannot be uploaded, and what `open` raises for a path.
        It is not repeated when it may have been executed (`TransportError.maybe_executed`).
        """
        if visibility not in _VISIBILITIES:
            raise InvalidArgumentError(f"visibility={visibility!r}: give 'user' or 'workspace'")
        asked = {**numbers(1, expiry=expiry), **texts(visibility=visibility, purpose=purpose)}
        fields = [(field, str(value)) for field, value in asked.items()]
        with open_upload(file, name, mime_type) as upload, with_bar(
            progress, upload.name, "B", on_progress
        ) as told:
            body = MultipartBody(fields, upload, told)
            call = Call("POST", "/v1/files", body=body)
            return parse(File, self._caller.json(call, Options(**options)))

    def list(
        self,
        *,
        search: Optional[str] = None,
        purpose: Optional[str] = None,
        source: Sequence[str] = (),
        sample_type: Sequence[str] = (),
        mimetypes: Sequence[str] = (),
        page_size: int = 100,
        **options: Unpack[CallOptions],
    ) -> Listing[File]:
        """All files, newest first as the server sorts them (`GET /v1/files`); lazily, page by page.

        search: in the file name; purpose, source, sample_type, mimetypes: only such files
        page_size: items a request
        """
        several = {"source": source, "sample_type": sample_type, "mimetypes": mimetypes}
        query: List[Tuple[str, Any]] = [
            ("page_size", number("page_size", page_size, 1)),
            *texts(search=search, purpose=purpose).items(),
        ]
        for name, values in several.items():
            query += [(name, value) for value in items(name, values, str, "texts")]
        opts = Options(**options)
        received = 0

        def fetch(page: int) -> Page[File]:
            nonlocal received
            call = Call("GET", "/v1/files", query=[("page", page), *query])
            payload = self._caller.json(call, opts)
            files = items_of(payload, File)
            received += len(files)
            more = _has_more(payload, received, len(files) >= page_size)
            return Page(files, page + 1 if more else None)

        return Listing(fetch, 0)

    def get(self, file: FileRef, **options: Unpack[CallOptions]) -> File:
        """One file's metadata (`GET /v1/files/{id}`)."""
        return parse(File, self._caller.json(Call("GET", _path(file)), Options(**options)))

    @overload
    def download(self, file: FileRef, **options: Unpack[CallOptions]) -> bytes: ...

    @overload
    def download(
        self, file: FileRef, path: Union[str, os.PathLike[str]], **options: Unpack[CallOptions]
    ) -> None: ...

    def download(
        self,
        file: FileRef,
        path: Union[str, os.PathLike[str], None] = None,
        **options: Unpack[CallOptions],
    ) -> Optional[bytes]:
        """A file's content (`GET /v1/files/{id}/content`): the bytes, or saved to `path`.

        To a path it streams, and the file there is whole or was not touched. Give the File, not
        its id: its size shows a broken connection (ConnectionLostError) also where the reply does
        not say how long it is.
        """
        call = Call("GET", f"{_path(file)}/content", accept="application/octet-stream")
        size = file.size if isinstance(file, File) else None
        opts = Options(**options)
        if path is None:
            return self._caller.run(call, opts, lambda reply, _: b"".join(whole(reply, size)))
        target = target_of(path)
        self._caller.run(call, opts, lambda reply, _: save(whole(reply, size), target))
        return None

    def delete(self, file: FileRef, **options: Unpack[CallOptions]) -> None:
        """Delete a file (`DELETE /v1/files/{id}`)."""
        self._caller.json(Call("DELETE", _path(file)), Options(**options))

    def signed_url(
        self, file: FileRef, *, expiry: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> SignedUrl:
        """A URL that opens the file for whoever holds it (`GET /v1/files/{id}/url`).

        expiry: hours until it ends, 1 to 168 (the server's default is 24)
        """
        call = Call("GET", f"{_path(file)}/url", query=[*numbers(1, expiry=expiry).items()])
        payload: Any = self._caller.json(call, Options(**options))
        url = payload.get("url") if isinstance(payload, dict) else None
        return signed_url_of(url)


def _path(file: FileRef) -> str:
    return f"/v1/files/{id_of(file, File)}"


def _has_more(payload: Any, received: int, full: bool) -> bool:
    """Whether to ask for another page; a server may give smaller ones than it was asked for."""
    total = payload.get("total") if isinstance(payload, dict) else None
    return received < total if isinstance(total, int) else full
