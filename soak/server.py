"""The in-memory API with faults, served in a process of its own: `python -m soak.server SEED`.

It prints its port; each line on its standard input is a share of requests that fail from then on,
and is answered by the faults that were given so far, as JSON. It ends with the input.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections import Counter
from typing import Any, Counter as Counts, Iterator

from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.fake_api.server import serve

from .faults import Faulty


class Served:
    """The running server, as whoever started it sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.url = f"http://127.0.0.1:{int(self._read())}"
        self.pid = process.pid

    def fail(self, share: float) -> Counts[str]:
        """From now on this share of the requests fails; how the ones before did."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{share}\n")
        self._process.stdin.flush()
        return Counter(json.loads(self._read()))

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@contextlib.contextmanager
def serving(seed: int) -> Iterator[Served]:
    """A server without faults, until it is told to have some."""
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-m", "soak.server", str(seed)], **pipes) as process:
        yield Served(process)
        assert process.stdin is not None
        process.stdin.close()


def main(seed: str) -> None:
    """Serve until the standard input ends."""
    with KnowledgeApi(polls_until_done=0, seed=int(seed)) as api:
        faulty: Any = Faulty(api, int(seed))
        with serve(faulty) as server:
            print(server.port, flush=True)
            for line in sys.stdin:
                faulty.share = float(line)
                print(json.dumps(faulty.given), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
