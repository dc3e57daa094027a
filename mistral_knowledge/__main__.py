"""`python -m mistral_knowledge COMMAND ...`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import List, Optional

from ._version import __version__
from .commands import ask
from .errors import ConfigurationError, InvalidArgumentError, KnowledgeError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130

_COMMANDS = (ask,)


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command; returns its exit code: 0 good, 1 failed, 2 misused, 130 interrupted."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except (ConfigurationError, InvalidArgumentError) as error:
        return _fail(error, MISUSED)
    except BrokenPipeError:
        # Whoever read our output has gone: what is left to be flushed goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (KnowledgeError, OSError) as error:
        return _fail(error, FAILED)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mistral_knowledge")
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(subparsers)
    return parser


def _fail(error: Exception, code: int) -> int:
    print(f"mistral_knowledge: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
