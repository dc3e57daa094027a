"""One upload of a file; run as a program, the memory that it took.

`python -m benchmarks.uploading WHO URL PATH` prints by how many bytes the process grew at its
peak: beyond what it is after the imports and a first, small upload.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from typing import Callable, Dict
from urllib.parse import urlsplit

from .contenders import official, ours

BLOCK = 256 * 1024

Upload = Callable[[str], object]


def by_us(url: str) -> Upload:
    """`client.files.upload` of a path."""
    client = ours(url)
    return lambda path: client.files.upload(path, purpose="ocr")


def by_mistralai(url: str) -> Upload:
    """The official SDK's `files.upload` of an open file."""
    client = official(url)

    def upload(path: str) -> None:
        with open(path, "rb") as file:
            client.files.upload(
                file={"file_name": os.path.basename(path), "content": file}, purpose="ocr"
            )

    return upload


def at_the_floor(url: str) -> Upload:
    """Blocks of the file written to a bare socket."""
    parts = urlsplit(url)

    def upload(path: str) -> None:
        size = os.path.getsize(path)
        head = f"POST {parts.path} HTTP/1.1\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
        with socket.create_connection((parts.hostname, parts.port)) as sock:
            sock.sendall(head.encode("ascii"))
            with open(path, "rb") as file:
                for block in iter(lambda: file.read(BLOCK), b""):
                    sock.sendall(block)
            reply = sock.makefile("rb").read()
        assert json.loads(reply.partition(b"\r\n\r\n")[2])["bytes"] == size

    return upload


BY: Dict[str, Callable[[str], Upload]] = {
    "ours": by_us,
    "mistralai": by_mistralai,
    "floor": at_the_floor,
}


def peak_memory() -> int:
    """Bytes that this process held at its peak."""
    try:
        # The same as ru_maxrss, but that also remembers the process which started this one.
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    except FileNotFoundError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def main(who: str, url: str, path: str) -> None:
    upload = BY[who](url)
    with tempfile.NamedTemporaryFile(suffix=".bin") as small:
        small.write(b"x" * BLOCK)
        small.flush()
        upload(small.name)
    before = peak_memory()
    upload(path)
    print(peak_memory() - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
