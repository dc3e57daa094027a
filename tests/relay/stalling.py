"""A relay for servers of others: each answer stalls after its first word, and says when it ends."""

import os
from typing import Any

from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.relay import relay_app
from mistral_knowledge.transports.fake import Scripted, Stall

FIRST = b'data: {"id": "a", "choices": [{"index": 0, "delta": {"content": "Yes"}}]}\n\n'


class Told(Stall):
    """A stall whose end is written to stdout."""

    def run(self, moment: Any) -> None:
        try:
            super().run(moment)
        finally:
            os.write(1, b"ended upstream\n")


fake = FakeTransport(script=[Scripted.events(FIRST, Told())])
app = relay_app(KnowledgeClient(transport=fake, retries=0), libraries="lib")
