"""Import and construct: what a program pays before its first request."""

from __future__ import annotations

from typing import List

from ..contenders import output_of
from ..measuring import Effort, Figure, medians
from ..report import Check, Line, at_most

OURS = "from mistral_knowledge import KnowledgeClient; KnowledgeClient('key')"
OFFICIAL = (
    "from mistralai.client import Mistral; client = Mistral(api_key='key'); "
    "client.chat; client.files; client.beta.libraries; client.beta.conversations"
)
FLOOR = "import requests, attr, sseclient; requests.Session()"

HEAVY = ("requests", "ssl", "asyncio")


def run(effort: Effort) -> List[Line]:
    """The time, and what `import mistral_knowledge` loads."""
    contenders = {"ours": OURS, "mistralai": OFFICIAL, "floor": FLOOR}
    figures = {name: _figure(statements) for name, statements in contenders.items()}
    found = medians(figures, effort.times(15))
    line = Line("import and construct", "ms", **found)
    line.checks.append(at_most(1 / 5, line.to_mistralai, "at most 1/5 of mistralai"))
    return [
        line,
        _loaded("  loaded by the import", "import mistral_knowledge"),
        _loaded("  loaded by import and construct", OURS),
    ]


def _figure(statements: str) -> Figure:
    timed = f"import time; began = time.perf_counter(); {statements}"
    code = f"{timed}; print(1000 * (time.perf_counter() - began))"
    return lambda: float(output_of("-c", code))


def _loaded(what: str, statements: str) -> Line:
    code = f"import sys; {statements}; print(*[name for name in {HEAVY} if name in sys.modules])"
    loaded = ", ".join(output_of("-c", code).split())
    check = Check(f"without {', '.join(HEAVY)}", loaded or "none of them", not loaded)
    return Line(what, checks=[check])
