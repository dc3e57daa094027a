"""Put a folder into a library from many machines, with Dask.

    python examples/ingest_dask.py FOLDER --library NAME [--scheduler tcp://...:8786]

Without --scheduler it starts workers on this machine. Every worker has to see the folder under the
same path (a shared file system), to have mistral_knowledge installed, and to have MISTRAL_API_KEY
in its environment: the client travels without its key.
"""

from __future__ import annotations

import argparse
import os
from typing import Dict, Iterator, List, Tuple

from dask.distributed import Client as DaskClient, LocalCluster, as_completed

from mistral_knowledge import KnowledgeClient

BATCH = 50  # files a task: a few seconds of work, so that Dask's own cost does not count

Result = Tuple[str, str, str]


def upload_batch(paths: List[str], knowledge: KnowledgeClient, library_id: str) -> List[Result]:
    """On a worker: upload some files; gives (path, status, what went wrong) of each."""
    with knowledge.documents.upload_many(library_id, paths, workers=4) as uploads:
        # Plain text goes back: small, and every version of Dask can read it.
        return [(outcome.path, outcome.status, str(outcome.error or "")) for outcome in uploads]


def ingest(
    dask: DaskClient, client: KnowledgeClient, library: str, folder: str
) -> Iterator[Result]:
    """Upload a folder on the workers of `dask`; gives the results as they come."""
    library_id = client.libraries.get_or_create(library).id
    paths = sorted(
        os.path.abspath(os.path.join(place, name))
        for place, _, names in os.walk(folder)
        for name in names
        if not name.startswith(".")
    )
    batches = [paths[start : start + BATCH] for start in range(0, len(paths), BATCH)]
    # Sent to each worker once, and not with every task: a client keeps its connections.
    everywhere = dask.scatter(client, broadcast=True, hash=False)
    # pure=False: the same upload later is to be done again.
    tasks = dask.map(upload_batch, batches, knowledge=everywhere, library_id=library_id, pure=False)
    for task in as_completed(tasks):
        yield from task.result()


def main() -> int:
    """Read the command line, and show what came of each file."""
    parser = argparse.ArgumentParser(description="Put a folder into a library with Dask.")
    parser.add_argument("folder")
    parser.add_argument("--library", required=True, metavar="NAME")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="default: workers on this machine")
    parser.add_argument("--workers", type=int, default=2, help="how many of those (default 2)")
    arguments = parser.parse_args()
    counts: Dict[str, int] = {}
    with _dask(arguments) as dask, KnowledgeClient() as client:
        for path, status, problem in ingest(dask, client, arguments.library, arguments.folder):
            counts[status] = counts.get(status, 0) + 1
            if problem:
                print(f"{path}: {problem}")
    print(
        ", ".join(f"{number} {status}" for status, number in sorted(counts.items())) or "no files"
    )
    return 1 if counts.get("failed") else 0


def _dask(arguments: argparse.Namespace) -> DaskClient:
    if arguments.scheduler:
        return DaskClient(arguments.scheduler)
    cluster = LocalCluster(
        n_workers=arguments.workers, threads_per_worker=1, processes=True, dashboard_address=None
    )
    return DaskClient(cluster)


# Workers import this file: only the program that was started may go on from here.
if __name__ == "__main__":
    raise SystemExit(main())
