"""The tables of docs/relay.md are those that the relay goes by."""

from __future__ import annotations

import re

import pytest

from mistral_knowledge.relay import fields

from ..conftest import ROOT

TABLES = {
    "`POST /v3/retrieval/rag`": fields.RAG,
    "`POST /v3/retrieval/agent`": fields.AGENT,
    "`POST /api/rag`": fields.PAGE,
    "Generation configs": fields.GENERATION,
    "`search_settings`": fields.SEARCH,
}


@pytest.mark.parametrize("title", list(TABLES))
def test_the_page_says_what_becomes_of_each_field(title: str) -> None:
    page = (ROOT / "docs" / "relay.md").read_text(encoding="utf-8")
    section = page.partition(f"### {title}\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", section, re.MULTILINE)
    told = [(name, field.fate, field.words) for name, field in TABLES[title].items()]
    assert rows == told
