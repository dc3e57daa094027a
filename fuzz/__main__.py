"""python -m fuzz [options of libFuzzer] [corpus folders]: look for what the target cannot bear."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["mistral_knowledge", "sseclient", "fuzz.target"]):
    from . import target

atheris.Setup(sys.argv, target.check)
atheris.Fuzz()
