"""What the examples ask: with a key your library, without one our README, in memory."""

import os
import pathlib

from mistral_knowledge import FakeTransport, KnowledgeClient

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"

if os.environ.get("MISTRAL_API_KEY"):
    client = KnowledgeClient()
    library = os.environ["MISTRAL_LIBRARY"]
else:
    client = KnowledgeClient(transport=FakeTransport())
    library = client.libraries.create("README")
    client.documents.upload(library, README, wait=True)
