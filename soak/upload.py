"""A large file into a server that throws it away, in flat memory: `python -m soak.upload MIB`."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from mistral_knowledge import KnowledgeClient
from mistral_knowledge.settings import Settings

from .figures import MIB, finish, memory

MOST_GROWTH = 16 * MIB


class Discard(BaseHTTPRequestHandler):
    """Reads a body and says how long it was."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Throw the body away."""
        size = left = int(self.headers["content-length"])
        buffer = memoryview(bytearray(MIB))
        while left:
            read = self.rfile.readinto(buffer[: min(MIB, left)])
            if not read:
                raise ConnectionError("the body ended early")
            left -= read
        body = b'{"id": "file-1", "bytes": %d}' % size
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Nothing."""


def main(size: int) -> None:
    """Upload a sparse file of `size` MiB."""
    with HTTPServer(("127.0.0.1", 0), Discard) as server, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        path = os.path.join(folder, "sparse.bin")
        with KnowledgeClient("k", base_url=url, settings=Settings()) as client:
            _upload(client, path, 1)
            before, began = memory(), time.monotonic()
            arrived, peak = _upload(client, path, size)
            seconds = time.monotonic() - began
        server.shutdown()
    said = (
        f"{arrived / MIB:,.0f} MiB in {seconds:.1f} s, {arrived / MIB / seconds:,.0f} MiB/s; "
        f"memory grew by at most {(peak - before) / MIB:.1f} MiB"
    )
    problems = [] if arrived > size * MIB else [f"{size} MiB were sent"]
    problems += ["that is not flat"] if peak - before > MOST_GROWTH else []
    finish("upload", said, problems)


def _upload(client: KnowledgeClient, path: str, size: int) -> Any:
    with open(path, "wb") as file:
        file.truncate(size * MIB)
    peaks = [memory()]

    def watch(sent: int, total: Any) -> None:
        if sent % (16 * MIB) == 0:
            peaks.append(memory())

    uploaded = client.files.upload(path, purpose="ocr", on_progress=watch)
    return uploaded.size, max(*peaks, memory())


if __name__ == "__main__":
    main(int(sys.argv[1]))
