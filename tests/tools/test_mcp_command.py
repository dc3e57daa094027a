"""`python -m mistral_knowledge mcp` where it cannot serve."""

from __future__ import annotations

import subprocess
import sys
from typing import Callable

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.skipif(sys.version_info >= (3, 10), reason="newer Pythons can serve")
def test_an_older_python_is_told_what_it_needs(run_python: Run) -> None:
    done = run_python("-m", "mistral_knowledge", "mcp", "--offline")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mistral_knowledge: the MCP server needs Python 3.10 or newer\n"


@pytest.mark.skipif(sys.version_info < (3, 10), reason="older Pythons cannot serve at all")
def test_a_missing_extra_is_named(run_python: Run) -> None:
    program = (
        "import sys; sys.modules['mcp_types'] = None\n"
        "from mistral_knowledge.__main__ import main\n"
        "sys.exit(main(['mcp', '--offline']))"
    )
    done = run_python("-c", program)
    assert done.returncode == 2
    assert 'pip install "mistral-knowledge[mcp]"' in done.stderr


@pytest.mark.skipif(sys.version_info < (3, 10), reason="older Pythons cannot serve at all")
def test_a_root_that_is_not_there_is_told(run_python: Run) -> None:
    done = run_python("-m", "mistral_knowledge", "mcp", "--offline", "--root", "/nowhere")
    assert done.returncode == 2
    assert "there is no folder /nowhere" in done.stderr
