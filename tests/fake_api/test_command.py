"""`python -m mistral_knowledge fake-server`."""

import argparse
import json
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from mistral_knowledge.commands import fake_server
from mistral_knowledge.errors import InvalidArgumentError

PROGRAM = """
import argparse, sys
from mistral_knowledge.commands import fake_server
parser = argparse.ArgumentParser()
fake_server.add_parser(parser.add_subparsers())
options = parser.parse_args()
sys.exit(options.run(options))
"""


def options(*arguments):
    parser = argparse.ArgumentParser()
    fake_server.add_parser(parser.add_subparsers())
    return parser.parse_args(["fake-server", *arguments])


def test_it_serves_until_ctrl_c_and_ends_with_0(tmp_path):
    command = [sys.executable, "-c", PROGRAM, "fake-server", "--port", "0"]
    command += ["--db", str(tmp_path / "a.db")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True
    ) as process:
        said = process.stderr.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+", said).group(0)
        with urllib.request.urlopen(f"{url}/v1/libraries") as response:
            assert json.load(response)["data"] == []
        process.send_signal(signal.SIGINT)
        out, log = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert '"GET /v1/libraries HTTP/1.1" 200' in log


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "reached from outside"),
        (["--port", "99999"], "port 99999"),
        (["--db", "/nowhere/at/all.db"], "/nowhere/at/all.db"),
    ],
)
def test_what_cannot_be_served_is_said(arguments, words):
    with pytest.raises(InvalidArgumentError, match=words):
        fake_server.run(options("--port", "0", *arguments))
