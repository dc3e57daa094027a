"""The main job over real HTTP, against the in-memory API served on loopback."""

import logging

import pytest

from mistral_knowledge import KnowledgeClient
from mistral_knowledge.fake_api.server import serve

QUESTION = "Why is the sky blue?"


@pytest.fixture
def online(api):
    with serve(api) as server, KnowledgeClient("test-key", base_url=server.url) as client:
        yield client


@pytest.fixture
def library(online):
    made = online.libraries.get_or_create("Notes")
    text = b"The sky is blue because short waves are scattered more."
    online.documents.upload(made, text, name="sky.txt", wait=True)
    return made


def test_the_answer_over_http_is_the_answer_in_memory(online, client, library):
    over_http = online.rag.query(QUESTION, libraries=library)
    in_memory = client.rag.query(QUESTION, libraries=library)
    assert over_http.text == in_memory.text
    assert "short waves" in over_http.text


@pytest.mark.parametrize("streaming", [True, False])
def test_answer_after_answer_uses_one_connection(online, library, caplog, streaming):
    caplog.set_level(logging.DEBUG, logger="urllib3.connectionpool")
    for _ in range(5):
        online.rag.query(QUESTION, libraries=library, streaming=streaming)
    words = [record.getMessage() for record in caplog.records]
    assert [word for word in words if "connection" in word.lower()] == []


def test_a_loop_that_is_left_takes_its_connection_with_it_and_the_next_call_works(online, library):
    for _ in online.rag.stream(QUESTION, libraries=library):
        break
    assert online.rag.query(QUESTION, libraries=library).text


def test_a_file_comes_back_as_it_went(online, tmp_path):
    content = bytes(range(256)) * 5000
    path = tmp_path / "in.bin"
    path.write_bytes(content)
    sent = []
    file = online.files.upload(path, purpose="ocr", on_progress=lambda *now: sent.append(now))
    online.files.download(file, tmp_path / "out.bin")
    assert (tmp_path / "out.bin").read_bytes() == online.files.download(file) == content
    assert (file.visibility, sent[-1]) == ("user", (len(content), len(content)))
