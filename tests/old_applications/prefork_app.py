"""A WSGI application whose client is made, and used, before gunicorn forks its workers."""

import os

from mistral_knowledge import KnowledgeClient

client = KnowledgeClient("key", base_url=os.environ["MISTRAL_UPSTREAM"])
ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"

assert client.files.download("before-the-fork") == b"before-the-fork"
# Left open on purpose: the workers inherit it in the middle of its body.
inherited = client.rag.stream("wait", libraries=ID)
assert next(inherited).delta == "you asked: "


def app(environ, start_response):
    """Streams the answer to the question in the path, behind the number of the process."""
    question = environ["PATH_INFO"].strip("/")
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield f"{os.getpid()} {client.files.download(question).decode()} ".encode()
    for text in client.rag.stream(question, libraries=ID).text_stream:
        yield text.encode()
