"""Programs of other times run as they are: forks, threads, greenlets, signals, ends in the middle.

Every warning is an error in them, and a ResourceWarning would be seen in what they print.
"""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

from . import programs
from .upstream import Upstream


def run(program, path=None):
    """Run a program; it must end well and print "fine" and nothing else."""
    with Upstream() as server:
        code = ["-c", program] if path is None else [str(path)]
        done = subprocess.run(
            [sys.executable, "-W", "error", *code, server.url],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert (done.stdout.decode(), done.stderr.decode(), done.returncode) == ("fine\n", "", 0)
    return server


def test_children_of_multiprocessing_that_are_forked_get_their_own_answers():
    run(programs.FORK)


def test_children_of_multiprocessing_that_are_spawned_get_the_client_by_pickle(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(programs.SPAWN)
    run(programs.SPAWN, path)


def test_gevent_patches_everything_after_a_client_was_made():
    run(programs.GEVENT)


def test_fifty_threads_on_one_client_get_their_own_answers():
    run(programs.THREADS)


def test_a_signal_handler_may_abort_the_stream_that_the_thread_is_reading():
    run(programs.SIGNAL)


@pytest.mark.parametrize("program", [programs.EXIT, programs.EXIT_BY_ERROR])
def test_an_interpreter_may_end_in_the_middle_of_a_stream(program):
    server = run(program)
    server.left.wait()


def test_a_thousand_clients_that_are_dropped_leave_no_socket():
    run(programs.DROPPED)
