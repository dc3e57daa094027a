"""ingest_dask.py on a real cluster: a scheduler and workers, each a process of its own."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from mistral_knowledge import KnowledgeClient

from .conftest import EXAMPLES, KEY, environment

PATIENCE = 120


def test_a_folder_is_in_the_library_exactly_once(
    url: str, client: KnowledgeClient, folder: pathlib.Path
) -> None:
    expected = sorted(path.name for path in folder.rglob("*.md"))
    for words in ("120 uploaded\n", "120 already_there\n"):
        done = _run(url, folder)
        assert (done.returncode, done.stdout) == (0, words), done.stderr
        assert KEY not in done.stderr
    library = client.libraries.find("Papers")
    assert library is not None
    assert sorted(str(one.name) for one in client.documents.list(library)) == expected


def test_workers_without_a_key_say_what_is_missing(url: str, folder: pathlib.Path) -> None:
    """The program has a key of its own, given as text: it must not reach the workers."""
    program = (
        "import os, sys\n"
        "from dask.distributed import Client, LocalCluster\n"
        "from mistral_knowledge import ConfigurationError, KnowledgeClient\n"
        "import ingest_dask\n"
        "if __name__ == '__main__':\n"
        "    key = os.environ.pop('MISTRAL_API_KEY')\n"
        "    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)\n"
        "    with Client(cluster) as dask, KnowledgeClient(key) as client:\n"
        "        try:\n"
        "            list(ingest_dask.ingest(dask, client, 'Papers', sys.argv[1]))\n"
        "        except ConfigurationError as error:\n"
        "            print(error)\n"
    )
    path = folder.parent / "without_key.py"
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, str(path), str(folder)],
        env=environment(url),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert "stays behind when a client is pickled" in done.stdout, done.stderr
    assert KEY not in done.stdout + done.stderr


def _run(url: str, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / "ingest_dask.py"), str(folder), "--library", "Papers"],
        env=environment(url),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
