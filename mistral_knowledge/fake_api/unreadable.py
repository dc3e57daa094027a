"""The one error of text extraction."""

from __future__ import annotations


class Unreadable(Exception):
    """No text can be read from a file: its processing ends in `error`."""
