"""Upload of 256 MiB from a file: how fast, and how much memory it takes."""

from __future__ import annotations

import os
import tempfile
from typing import List

from .. import uploading
from ..contenders import output_of, serving
from ..measuring import Effort, medians, wall
from ..report import Line, at_least, at_most

MIB = 2**20


def run(effort: Effort) -> List[Line]:
    """MiB a second; MiB by which the process grew."""
    size = effort.size(256, 4)
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "upload.bin")
        block = os.urandom(MIB)
        with open(path, "wb") as file:
            for _ in range(size):
                file.write(block)
        url = f"{server}/discard"
        return [_rate(url, path, size, effort), _memory(url, path, effort)]


def _rate(url: str, path: str, size: int, effort: Effort) -> Line:
    uploads = {name: make(url) for name, make in uploading.BY.items()}
    found = medians(
        {
            name: lambda upload=upload: size / wall(lambda: upload(path))
            for name, upload in uploads.items()
        },
        effort.times(9),
    )
    line = Line("upload of 256 MiB from a file", "MiB/s", **found)
    line.checks.append(at_least(0.8, line.to_mistralai, "at least 0.8 of mistralai's rate"))
    return line


def _memory(url: str, path: str, effort: Effort) -> Line:
    def growth(name: str) -> float:
        return float(output_of("-m", "benchmarks.uploading", name, url, path)) / MIB

    found = medians(
        {name: lambda name=name: growth(name) for name in uploading.BY}, effort.times(3)
    )
    line = Line("  its memory", "MiB", **found)
    line.checks.append(at_most(16, line.ours, "under 16 MiB", " MiB"))
    return line
