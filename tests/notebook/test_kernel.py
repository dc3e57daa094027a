"""In a real Jupyter kernel: an answer grows in one cell, and an interrupt stops it."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

import pytest
from jupyter_client.manager import KernelManager

from mistral_knowledge.notebook._showing import UNFINISHED

from ..conftest import python_environment

PATIENCE = 60

SET_UP = """
import json
from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.transports.fake import Scripted, Stall
from mistral_knowledge.fake_api import KnowledgeApi

ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"

def delta(text, finish=None):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\\n\\n".encode()

def client_of(*steps):
    return KnowledgeClient(transport=FakeTransport(script=[Scripted.events(*steps)]))
"""


class Kernel:
    """A kernel, and what its cells show."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self._client = manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=PATIENCE)

    def start(self, code: str) -> str:
        return str(self._client.execute(code))

    def messages(self, of: str) -> Iterator[Dict[str, Any]]:
        """What a cell sends, until it is done."""
        while True:
            message = self._client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != of:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return
            yield message

    def run(self, code: str) -> List[Dict[str, Any]]:
        return list(self.messages(self.start(code)))

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    manager = KernelManager(kernel_name="python3")
    folder = str(tmp_path_factory.mktemp("kernel"))
    environment = python_environment(IPYTHONDIR=folder, JUPYTER_RUNTIME_DIR=folder, HOME=folder)
    manager.start_kernel(env=environment)
    running = Kernel(manager)
    assert errors(running.run(SET_UP)) == []
    yield running
    running.close()


def errors(messages: List[Dict[str, Any]]) -> List[str]:
    return [
        "\n".join(message["content"]["traceback"])
        for message in messages
        if message["msg_type"] == "error"
    ]


def shown(messages: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    kinds = ("display_data", "update_display_data")
    return [message["content"] for message in messages if message["msg_type"] in kinds]


def test_an_answer_grows_in_one_cell(kernel: Kernel) -> None:
    messages = kernel.run(
        "client = client_of(delta('The **sky** '), delta('is blue.', 'stop'))\n"
        "answer = client.rag.show('?', libraries=ID)\n"
        "assert answer.text == 'The **sky** is blue.'"
    )
    assert errors(messages) == []
    cells = shown(messages)
    assert len({cell["transient"]["display_id"] for cell in cells}) == 1
    assert "<p>The <strong>sky</strong> is blue.</p>" in cells[-1]["data"]["text/html"]
    assert "<p>The <strong>sky</strong></p>" in cells[1]["data"]["text/html"]


def test_an_interrupt_stops_it_and_the_next_call_works(kernel: Kernel) -> None:
    cell = kernel.start(
        "stream = client_of(delta('Half '), Stall()).rag.stream('?', libraries=ID)\nstream.show()"
    )
    messages = []
    interrupted = False
    for message in kernel.messages(cell):
        messages.append(message)
        if not interrupted and "Half" in str(message["content"].get("data")):
            kernel.interrupt()
            interrupted = True
    assert "KeyboardInterrupt" in errors(messages)[-1]
    assert UNFINISHED in shown(messages)[-1]["data"]["text/html"]
    assert "Half" in shown(messages)[-1]["data"]["text/html"]

    again = kernel.run(
        "assert 'closed' in repr(stream)\n"
        "client_of(delta('Whole.', 'stop')).rag.show('?', libraries=ID).text"
    )
    assert errors(again) == []
    results = [message["content"]["data"] for message in again if "data" in message["content"]]
    assert "'Whole.'" in [data.get("text/plain") for data in results]


def test_an_answer_that_fails_is_marked_and_raised(kernel: Kernel) -> None:
    messages = kernel.run("client_of(delta('Half ')).rag.show('?', libraries=ID)")
    assert "AnswerTruncatedError" in errors(messages)[-1]
    assert UNFINISHED in shown(messages)[-1]["data"]["text/html"]


def test_models_show_as_html(kernel: Kernel) -> None:
    messages = kernel.run(
        "client = KnowledgeClient(transport=FakeTransport(KnowledgeApi(polls_until_done=0)))\n"
        "client.libraries.create('Notes')"
    )
    (result,) = [m["content"]["data"] for m in messages if m["msg_type"] == "execute_result"]
    assert ">Notes</td>" in result["text/html"]


def test_bars_never_go_to_stdout(kernel: Kernel) -> None:
    messages = kernel.run(
        "library = client.libraries.create('Bars')\n"
        "file = ('a.txt', 'x' * 1000)\n"
        "document = client.documents.upload(library, file, wait=True, progress=True)\n"
        "file = client.files.upload(file, progress=True)"
    )
    assert errors(messages) == []
    streams = {m["content"]["name"] for m in messages if m["msg_type"] == "stream"}
    assert streams <= {"stderr"}
    bars = [m for m in messages if "a.txt" in str(m["content"])]
    assert len(bars) > 1
