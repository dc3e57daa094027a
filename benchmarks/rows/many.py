"""Many small files: how many documents a second, eight at once."""

from __future__ import annotations

import concurrent.futures
import os
import tempfile
from typing import Callable, List

from ..contenders import official, ours, serving, session
from ..measuring import Effort, Work, medians, wall
from ..report import Line
from ..wire import LIBRARY

WORKERS = 8

Paths = List[str]


def run(effort: Effort) -> List[Line]:
    """Files a second, over HTTP."""
    files = effort.size(500, 20)
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{number}.txt") for number in range(files)]
        for path in paths:
            with open(path, "w", encoding="ascii") as file:
                file.write(f"The content of {path}.")
        url = f"{server}/document"
        uploads = {"ours": _ours(url, folder), "mistralai": _official(url, paths)}
        uploads["floor"] = _floor(url, paths)
        figures = {
            name: lambda upload=upload: files / wall(upload) for name, upload in uploads.items()
        }
        found = medians(figures, effort.times(7))
    return [Line(f"{files} small files, {WORKERS} at once", "files/s", **found)]


def _ours(url: str, folder: str) -> Work:
    client = ours(url)

    def upload() -> None:
        outcomes = list(client.documents.upload_many(LIBRARY, folder, workers=WORKERS))
        assert all(outcome.document for outcome in outcomes)

    return upload


def _official(url: str, paths: Paths) -> Work:
    documents = official(url).beta.libraries.documents

    def upload(path: str) -> str:
        with open(path, "rb") as file:
            content = {"file_name": os.path.basename(path), "content": file}
            return documents.upload(library_id=LIBRARY, file=content).id

    return lambda: _at_once(upload, paths)


def _floor(url: str, paths: Paths) -> Work:
    """Through requests, and a pool of threads."""
    http = session()
    url = f"{url}/v1/libraries/{LIBRARY}/documents"

    def upload(path: str) -> str:
        with open(path, "rb") as file:
            return http.post(url, files={"file": file}).json()["id"]

    return lambda: _at_once(upload, paths)


def _at_once(upload: Callable[[str], str], paths: Paths) -> None:
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        assert all(pool.map(upload, paths))
