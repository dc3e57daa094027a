"""Run the rows, print the table: `python -m benchmarks [--only NAME] [--quick] [--json FILE]`."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import sys
import time
from typing import Dict, List

from .contenders import output_of
from .report import Row, as_json, row_from_json, table
from .rows import NAMES

PACKAGES = ("mistralai", "requests", "urllib3", "sseclient-py", "attrs", "cattrs")


def main() -> int:
    """Run what was asked for; returns the exit code."""
    given, about = _arguments(), _about()
    began = time.monotonic()
    rows = [_run(name, given.quick) for name in given.only or NAMES]
    print("\n".join(f"{name}: {value}" for name, value in about.items()))
    print(f"\n{table(rows, judged=not given.quick)}\n")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"about": about, "quick": given.quick, "rows": as_json(rows)}, file, indent=1)
    failed = [row.name for row in rows if (row.failure if given.quick else not row.met)]
    print(f"{time.monotonic() - began:.0f} s; {_verdict(failed, given.quick)}")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=NAMES, help="this row (repeatable)")
    parser.add_argument("--quick", action="store_true", help="only find out whether all rows run")
    parser.add_argument("--json", metavar="FILE", help="write the figures to this file as well")
    return parser.parse_args()


def _run(name: str, quick: bool) -> Row:
    print(f"measuring: {name} ...", file=sys.stderr, flush=True)
    began = time.monotonic()
    try:
        output = output_of("-m", "benchmarks.one", name, *(["--quick"] if quick else []))
    except ChildProcessError as error:  # it has said on stderr what went wrong
        return Row(name, [], time.monotonic() - began, failure=str(error))
    return row_from_json(json.loads(output))


def _about() -> Dict[str, str]:
    """What was measured on what."""
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "packages": ", ".join(versions),
    }


def _verdict(failed: List[str], quick: bool) -> str:
    if failed:
        return f"{'broken' if quick else 'falls short'}: {', '.join(failed)}"
    return "all rows run; nothing was judged" if quick else "every requirement is met"


if __name__ == "__main__":
    sys.exit(main())
