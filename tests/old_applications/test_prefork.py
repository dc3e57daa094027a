"""gunicorn with workers that are forked from a process whose client has an open connection."""

import concurrent.futures
import http.client
import os

import pytest

from tests.conftest import ROOT
from tests.relay.test_examples import GUNICORN, serving

from .upstream import Upstream

WORKERS = {
    "sync": ["--worker-class", "sync"],
    "threads": ["--worker-class", "gthread", "--threads", "4"],
    "gevent": ["--worker-class", "gevent"],
}


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("kind", WORKERS)
def test_workers_that_share_a_client_of_before_the_fork_get_their_own_answers(kind, monkeypatch):
    app = "tests.old_applications.prefork_app:app"
    command = ["-m", *GUNICORN, str(ROOT), "--preload", "--workers", "3", *WORKERS[kind], app]
    with Upstream() as upstream:
        monkeypatch.setenv("MISTRAL_UPSTREAM", upstream.url)
        with serving(*command) as (_, port), concurrent.futures.ThreadPoolExecutor(12) as pool:
            names = [f"question-{number}" for number in range(150)]
            answers = list(pool.map(lambda name: get(port, f"/{name}"), names))
            processes = {answer.split(" ", 1)[0] for answer in answers}
            assert [answer.split(" ", 1)[1] for answer in answers] == [
                f"{name} you asked: {name}" for name in names
            ]
            assert len(processes) > 1
            assert str(os.getpid()) not in processes
            assert not upstream.left._opened.is_set()  # the stream of the parent still runs
        assert upstream.asked[0] == "wait"
