"""A declared class: the fields of what a tool takes or gives, each with its description.

One class gives the JSON Schema (`_schema`), the check of what a model sends (`_arguments`), and the
typed object that the tool's function works with.
"""

from __future__ import annotations

from typing import Any

import attr

WORDS = "words of JSON Schema"


def field(description: str, default: Any = attr.NOTHING, **words: Any) -> Any:
    """A field of a declared class; `words` are further words of JSON Schema (`minimum`, ...).

    It is required where there is no default.
    """
    words = {"description": description, **words}
    if default is not attr.NOTHING and default is not None:
        words["default"] = default
    return attr.ib(default=default, metadata={WORDS: words})
