"""Each part in a process of its own: `python -m soak [--seconds N] [--seed N] [--only PART]`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from typing import List

# The large parts are a tenth of their size in a run that is meant to be short.
WHOLE = 120


def main() -> int:
    """Run the parts; 1 if one of them found something wrong."""
    parser = argparse.ArgumentParser("python -m soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="how long the threads work")
    parser.add_argument("--seed", type=int, default=1, help="of the faults and of the work")
    parser.add_argument("--only", choices=["threads", "stream", "upload", "listing"])
    given = parser.parse_args()
    whole = given.seconds >= WHOLE
    parts = {
        "threads": ["--seconds", str(given.seconds), "--seed", str(given.seed)],
        "stream": ["1000000" if whole else "100000"],
        "upload": ["2048"],
        "listing": ["10000" if whole else "1000"],
    }
    failed = [
        name
        for name, arguments in parts.items()
        if given.only in (None, name) and _run(name, arguments)
    ]
    print(f"soak: {'failed: ' + ', '.join(failed) if failed else 'all is well'}", flush=True)
    return 1 if failed else 0


def _run(name: str, arguments: List[str]) -> int:
    command = [sys.executable, "-W", "error", "-m", f"soak.{name}", *arguments]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
