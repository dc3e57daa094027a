"""The notebooks in `examples/notebooks` run, offline, and show nothing secret."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, List

import nbformat
import pytest
from nbclient import NotebookClient

from ..conftest import ROOT, python_environment

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))

SHOWN = {
    "quickstart": [">light.md</td>", "<sup>[1]</sup>", "total tokens"],
    "streaming_and_agent": ["whole: stop", "<summary>Thinking</summary>", "order_status"],
    "folder_into_a_library": ["physics/light.md", "3 uploaded", "<b>Sources</b>"],
}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: pathlib.Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


def executed(path: pathlib.Path, folder: pathlib.Path) -> List[Dict[str, Any]]:
    notebook = nbformat.read(str(path), as_version=4)
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=python_environment(IPYTHONDIR=str(folder / ".ipython")))
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_says(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outputs = executed(path, tmp_path)
    shown = json.dumps(outputs, ensure_ascii=False)
    assert [words for words in SHOWN[path.stem] if words not in shown] == []
    assert "signature=" not in shown


def test_there_are_notebooks_for_all_that_is_expected() -> None:
    assert [path.stem for path in NOTEBOOKS] == sorted(SHOWN)
