"""One row in a process of its own: `python -m benchmarks.one NAME [--quick]` prints its JSON.

So no row is measured amid what another one has left in memory, and one that breaks breaks alone.
"""

from __future__ import annotations

import importlib
import json
import sys
import time

from .measuring import Effort
from .report import Row, as_json


def main(name: str, *options: str) -> None:
    began = time.monotonic()
    row = importlib.import_module(f"benchmarks.rows.{name}")
    lines = row.run(Effort(quick="--quick" in options))
    print(json.dumps(as_json([Row(name, lines, time.monotonic() - began)])[0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
