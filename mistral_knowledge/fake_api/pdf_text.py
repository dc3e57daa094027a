"""The text of PDF pages, with pypdf where it is installed: `mistral-knowledge[pdf]`."""

from __future__ import annotations

import importlib
import io
import logging
import struct
import warnings
import zlib
from typing import Any, List

from .unreadable import Unreadable

_log = logging.getLogger(__name__)

# Of a broken PDF, pypdf lets out what its own code ran into.
_BROKEN = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
    RecursionError,
    AssertionError,
    OSError,
    struct.error,
    zlib.error,
)


def pages_of_pdf(content: bytes) -> List[str]:
    """The text of each page; Unreadable if it cannot be read, or pypdf is missing."""
    pypdf = _pypdf()
    broken = (*_BROKEN, pypdf.errors.PyPdfError, pypdf.errors.DependencyError)
    try:
        return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages]
    except broken as error:
        raise Unreadable("the PDF is broken or locked") from error


def _pypdf() -> Any:
    try:
        with warnings.catch_warnings():
            # What it imports in turn may announce that it leaves Python 3.8.
            warnings.simplefilter("ignore")
            return importlib.import_module("pypdf")
    except ImportError:
        _log.info("a PDF cannot be read: pypdf is not installed")
        raise Unreadable("pypdf is not installed") from None
