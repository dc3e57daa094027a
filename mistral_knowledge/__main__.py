"""`python -m mistral_knowledge COMMAND ...`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import List, Optional

FAILED, MISUSED, INTERRUPTED = 1, 2, 130

try:
    from ._version import __version__
    from .commands import ask, fake_server, mcp, relay, sync
    from .errors import ConfigurationError, InvalidArgumentError, KnowledgeError
    from .notebook._terminal import line
except KeyboardInterrupt:  # they take long enough for a Ctrl-C
    sys.exit(INTERRUPTED)

_COMMANDS = (ask, sync, relay, mcp, fake_server)


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command; returns its exit code: 0 good, 1 failed, 2 misused, 130 interrupted."""
    try:
        _open_closed_streams()
        options = _parser().parse_args(arguments)
        _print_anything()
        code = int(options.run(options))
        sys.stdout.flush()
        return code
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


def _print_anything() -> None:
    """Have a console that lacks a character show another one in its place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _open_closed_streams() -> None:
    """Python has None for a stream that was closed when it started."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mistral_knowledge")
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(subparsers)
    return parser


def _fail(error: Exception, code: int) -> int:
    line(f"mistral_knowledge: {error}")
    return code


if __name__ == "__main__":
    sys.exit(main())
