"""Sixteen threads on one client, against a server that fails by chance."""

from __future__ import annotations

import argparse
import threading
import time
from collections import Counter
from typing import Counter as Counts, List

from mistral_knowledge import KnowledgeClient, Retry
from mistral_knowledge.settings import Settings

from .figures import MIB, Watch, finish, gone_within, growth, memory, sockets
from .server import Served, serving
from .work import Place, Worker

WORKERS = 16
SHARE = 0.15
MOST_GROWTH = 8 * MIB


def main() -> None:
    """Work, then look at what is there."""
    parser = argparse.ArgumentParser("python -m soak.threads", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with serving(given.seed) as server:
        _soak(server, given.seconds, given.seed)


def _soak(server: Served, seconds: float, seed: int) -> None:
    retries = Retry(3, backoff=0.01)
    client = KnowledgeClient("k", base_url=server.url, retries=retries, settings=Settings())
    place, done = Place.made(client), threading.Event()
    workers = [Worker(place, number, seed, done) for number in range(WORKERS)]
    watch = Watch(every=max(0.1, seconds / 200))
    server.fail(SHARE)
    for thread in (*workers, watch):
        thread.start()
    time.sleep(seconds)
    done.set()
    for worker in workers:
        worker.join(60)
    watch.end()
    faults = server.fail(0)
    problems = _problems(place, workers, watch)
    client.close()
    problems += [f"{sockets()} sockets after close()"] if sockets() else []
    counts: Counts[str] = sum((worker.counts for worker in workers), Counter())
    finish("threads", _said(counts, faults, watch, server), problems + _unhurt(counts, faults))


def _problems(place: Place, workers: List[Worker], watch: Watch) -> List[str]:
    found = [problem for worker in workers for problem in worker.wrong]
    there = Counter(str(one.name) for one in place.client.documents.list(place.inbox))
    uploaded = {name for worker in workers for name in worker.uploaded}
    perhaps = {name for worker in workers for name in worker.perhaps}
    found += [f"{name} is there {there[name]} times" for name in there if there[name] != 1]
    found += [f"{name} was uploaded and is not there" for name in uploaded - set(there)]
    found += [
        f"{name} is there, but nobody uploaded it" for name in set(there) - uploaded - perhaps
    ]
    if growth(watch.memory) > MOST_GROWTH:
        found.append(f"memory grew by {growth(watch.memory) / MIB:.1f} MiB")
    if max(watch.sockets) > 2 * WORKERS:
        found.append(f"{max(watch.sockets)} sockets at once")
    if growth(watch.sockets) > WORKERS / 2:
        found.append(f"{growth(watch.sockets):.0f} more sockets at the end")
    return found + [f"thread {name} is left" for name in gone_within(5, "")[1:]]


def _unhurt(counts: Counts[str], faults: Counts[str]) -> List[str]:
    """A run in which nothing was done, or nothing failed, says nothing."""
    kinds = ("upload", "stream", "query", "one_shot", "list", "leave", "abort")
    idle = [f"there was no {kind}" for kind in kinds if not counts[kind]]
    return idle + ([] if len(faults) == 7 else [f"only these faults came: {faults}"])


def _said(counts: Counts[str], faults: Counts[str], watch: Watch, server: Served) -> str:
    def listed(counted: Counts[str]) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in sorted(counted.items()))

    return (
        f"{listed(counts)}; faults: {listed(faults)}; memory {memory() / MIB:.1f} MiB, "
        f"{growth(watch.memory) / MIB:+.1f} after warm-up; at most {max(watch.sockets)} sockets; "
        f"server {memory(server.pid) / MIB:.0f} MiB"
    )


if __name__ == "__main__":
    main()
