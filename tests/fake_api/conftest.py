from typing import Iterator

import pytest

from mistral_knowledge.fake_api import KnowledgeApi

from .asking import FEES, Asker


@pytest.fixture
def api() -> Iterator[KnowledgeApi]:
    with KnowledgeApi(seed=1) as made:
        yield made


@pytest.fixture
def ask(api: KnowledgeApi) -> Asker:
    return Asker(api)


@pytest.fixture
def museum(ask: Asker) -> str:
    """The path of a library with one document that is ready."""
    library = ask.library()
    ask.ready(library, "fees.md", FEES)
    return library
