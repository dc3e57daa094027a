"""python -m fuzz [corpus folders] [libFuzzer options]: look for bytes that the target cannot bear."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["mistral_knowledge", "sseclient", "fuzz.target"]):
    from . import target

atheris.Setup(sys.argv, target.check)
atheris.Fuzz()
