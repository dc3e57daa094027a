"""Old applications: forks, greenlets, interpreters that end in the middle of something."""

import os
import pathlib
import subprocess
import sys
import time

from mistral_knowledge.testing import Gate

from . import programs
from .scripts import CHUNKED, chunk, serve

ROOT = pathlib.Path(__file__).resolve().parents[2]


def play(gate):
    """Echoes the path; /gate waits in the middle of its body until somebody asks for /open."""

    def answer(connection, seen):
        if seen.target == "/silent":
            return connection.wait_for_end()
        if seen.target == "/drip":
            for _ in range(200):
                connection.send(b"A")
                time.sleep(0.02)
        if seen.target == "/gate":
            connection.send(CHUNKED + chunk(b"one"))
            gate.wait()
            return connection.send(chunk(b"two") + chunk(b""))
        if seen.target == "/open":
            gate.open()
        time.sleep(0.002)
        return connection.send(CHUNKED + chunk(seen.target.encode()) + chunk(b""))

    return answer


def run(program, *options):
    """Run a program with all warnings as errors; it must end well and say nothing else."""
    gate = Gate()
    with serve(play(gate)) as server:
        done = subprocess.run(
            [sys.executable, *options, "-c", program, server.url],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=30,
            check=False,
        )
        gate.open()
    assert (done.stdout.decode(), done.stderr.decode(), done.returncode) == ("fine\n", "", 0)


def test_nothing_heavy_is_imported_before_the_first_request():
    """So that gevent may patch the standard library after our import."""
    run(programs.LIGHT)


def test_forked_processes_never_share_a_connection():
    """Children and parent use the same transport at once, and each gets its own answers."""
    run(programs.FORK, "-W", "error")


def test_a_stream_survives_what_a_forked_child_does():
    """Reading it there is refused; aborting, closing or dropping it there does it no harm."""
    run(programs.FORK_IN_STREAM, "-W", "error")


def test_a_session_of_the_user_is_refused_after_a_fork():
    """With an error that says what to do."""
    run(programs.FORK_WITH_SESSION, "-W", "error")


def test_an_interpreter_may_end_in_the_middle_of_a_stream():
    """No warning, no message, no hanging."""
    run(programs.EXIT_IN_STREAM, "-W", "error")


def test_ctrl_c_at_any_moment_leaves_the_transport_usable():
    """It never hangs on a lock that was left taken, and no answer goes to the wrong call."""
    run(programs.INTERRUPTS)


def test_gevent_may_patch_everything_after_our_import():
    """Greenlets run side by side, and aborts and limits work among them."""
    run(programs.GEVENT)
