"""What this process holds, from /proc (Linux): memory, sockets, threads."""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from typing import Iterator, List, NoReturn, Sequence

MIB = 2**20


def memory(pid: object = "self") -> int:
    """Bytes of memory that a process has resident."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def sockets() -> int:
    """Open sockets of this process."""
    return sum(target.startswith("socket:") for target in _descriptors())


def _descriptors() -> Iterator[str]:
    for name in os.listdir("/proc/self/fd"):
        try:
            yield os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue  # the one that listed them


class Watch(threading.Thread):
    """Samples of memory and sockets, one every `every` seconds until it is ended."""

    def __init__(self, every: float) -> None:
        super().__init__(name="soak-watch")
        self.memory: List[int] = []
        self.sockets: List[int] = []
        self._every = every
        self._ended = threading.Event()

    def run(self) -> None:
        """Take samples."""
        while not self._ended.wait(self._every):
            self.memory.append(memory())
            self.sockets.append(sockets())

    def end(self) -> None:
        """No more samples."""
        self._ended.set()
        self.join()


def growth(samples: Sequence[float]) -> float:
    """By how much the last quarter lies above the second one; the first one is warm-up."""
    quarter = max(1, len(samples) // 4)
    before = statistics.median(samples[quarter : 2 * quarter] or samples)
    return statistics.median(samples[-quarter:]) - before


def gone_within(seconds: float, names: str) -> List[str]:
    """The threads whose names begin like this and that are there even after a while."""
    until = time.monotonic() + seconds
    while True:
        left = [one.name for one in threading.enumerate() if one.name.startswith(names)]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.05)


def finish(part: str, said: str, problems: Sequence[str]) -> NoReturn:
    """Print what a part found, and end with its exit code."""
    print(f"{part}: {said}", flush=True)
    for problem in problems[:20]:
        print(f"{part}: WRONG: {problem}", file=sys.stderr, flush=True)
    sys.exit(1 if problems else 0)
