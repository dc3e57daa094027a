"""Beside boto3, whose pin holds urllib3 below 1.27 on this Python, and beside pydantic 1."""

from __future__ import annotations

import subprocess
import sys
import xml.sax.saxutils
from typing import Dict, List

import boto3
import botocore.config
import pydantic
import urllib3

from mistral_knowledge import KnowledgeClient, ServerError
from mistral_knowledge._loopback import Connection, Server, head
from mistral_knowledge._scenarios import raised
from tests.answers.wire import USAGE, chunk, sse

ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"
ANSWER = sse(chunk("one "), chunk("two"), chunk("", "stop", usage=USAGE), done=True)
KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "eu-west-3"}


def play(connection: Connection) -> None:
    """Both at once: a bucket, and Mistral."""
    for seen in iter(connection.request, None):
        if seen.method == "PUT":
            connection.send(head(content_length=0, etag='"e"'))
        elif seen.target.startswith("/bucket"):
            words = xml.sax.saxutils.escape("from the bucket").encode()
            connection.send(head(content_length=len(words)) + words)
        elif seen.target == "/v1/files/broken":
            connection.send(head(503, content_length=0))
        else:
            kind = {"content_type": "text/event-stream", "content_length": len(ANSWER)}
            connection.send(head(**kind) + ANSWER)


def test_the_versions_are_those_of_an_old_application() -> None:
    assert sys.version_info[:2] == (3, 8)
    assert urllib3.__version__.startswith("1.26.")
    assert pydantic.VERSION.startswith("1.")


def test_pip_finds_no_conflict() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "No broken requirements found.")


def test_both_work_in_one_process_in_turn() -> None:
    config = botocore.config.Config(s3={"addressing_style": "path"}, retries={"max_attempts": 0})
    with Server(play) as server, KnowledgeClient("key", base_url=server.url) as client:
        s3 = boto3.client("s3", endpoint_url=server.url, config=config, **KEYS)
        for _ in range(3):
            s3.put_object(Bucket="bucket", Key="a.txt", Body=b"x")
            got = s3.get_object(Bucket="bucket", Key="a.txt")["Body"].read()
            assert got == b"from the bucket"
            assert client.rag.query("Why?", libraries=ID).text == "one two"
            error = raised(ServerError, lambda: client.files.get("broken", retries=0))
            assert error.status == 503
        s3.close()


def test_an_answer_goes_into_a_model_of_pydantic_1() -> None:
    class Saved(pydantic.BaseModel):
        text: str
        tokens: Dict[str, int]
        words: List[str]

    with Server(play) as server, KnowledgeClient("key", base_url=server.url) as client:
        answer = client.rag.query("Why?", libraries=ID)
    tokens = {"total": answer.usage.total_tokens}
    saved = Saved(text=answer.text, tokens=tokens, words=answer.text.split())
    assert Saved.parse_raw(saved.json()) == saved
    assert saved.tokens == {"total": 15}
