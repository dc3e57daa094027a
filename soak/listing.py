"""A folder of very many files into a library, listed: `python -m soak.listing DOCUMENTS`."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter

from mistral_knowledge import KnowledgeClient, Retry
from mistral_knowledge.settings import Settings

from .figures import MIB, finish, memory
from .server import serving

SHARE = 0.2
MOST_GROWTH = 32 * MIB


def main(documents: int) -> None:
    """Upload under faults, then list without."""
    with serving(seed=1) as server, tempfile.TemporaryDirectory() as folder:
        for number in range(documents):
            with open(os.path.join(folder, f"{number}.txt"), "w", encoding="ascii") as file:
                file.write(f"The content of number {number}.")
        retries = Retry(9, backoff=0.01)
        client = KnowledgeClient("k", base_url=server.url, retries=retries, settings=Settings())
        library = client.libraries.create("Many")
        server.fail(SHARE)
        before, began = memory(), time.monotonic()
        with client.documents.upload_many(library, folder) as run:
            ends = Counter(outcome.status for outcome in run)
        uploading, faults = time.monotonic() - began, sum(server.fail(0).values())
        began = time.monotonic()
        names = Counter(str(one.name) for one in client.documents.list(library))
        listing, grown = time.monotonic() - began, memory() - before
        client.close()
    said = (
        f"{documents / uploading:,.0f} uploads/s of small files in spite of {faults:,} faults "
        f"({dict(ends)}); {documents:,} listed in {listing:.1f} s; memory grew by "
        f"{grown / MIB:.1f} MiB"
    )
    problems = [f"{name} is listed {times} times" for name, times in names.items() if times != 1]
    problems += [] if len(names) == documents else [f"{len(names):,} are listed"]
    problems += [f"{ends['failed']} failed"] if ends["failed"] else []
    problems += ["that is not flat"] if grown > MOST_GROWTH else []
    finish("listing", said, problems)


if __name__ == "__main__":
    main(int(sys.argv[1]))
