"""All nine tools, in their order, or some of them."""

from __future__ import annotations

from typing import Iterable, List, Optional

from ..client import KnowledgeClient
from ..errors import InvalidArgumentError
from ._documents import DOCUMENT_LIST, DOCUMENT_STATUS, DOCUMENT_UPLOAD
from ._files import FILE_UPLOAD
from ._libraries import LIBRARY_CREATE, LIBRARY_LIST
from ._local_files import LocalFiles, Roots
from ._one_document import DOCUMENT_REPROCESS, DOCUMENT_SIGNED_URL
from ._query import DOCUMENT_QUERY
from .tool import KnowledgeTool

_DECLARED = (
    FILE_UPLOAD,
    LIBRARY_CREATE,
    LIBRARY_LIST,
    DOCUMENT_UPLOAD,
    DOCUMENT_LIST,
    DOCUMENT_STATUS,
    DOCUMENT_SIGNED_URL,
    DOCUMENT_REPROCESS,
    DOCUMENT_QUERY,
)


def knowledge_tools(
    client: KnowledgeClient,
    *,
    only: Optional[Iterable[str]] = None,
    read_only: bool = False,
    roots: Roots = (),
) -> List[KnowledgeTool]:
    """The nine knowledge tools over `client`, always in the same order.

    only: the names of those that are wanted; read_only: only those that change nothing
    roots: folders below which files may be uploaded; by default none, so that a model can upload
        only text that it writes itself

    Raises InvalidArgumentError for a name that no tool has, and for a root that is no folder.
    """
    wanted = _names() if only is None else _checked(only)
    files = LocalFiles(roots)
    return [
        KnowledgeTool(one, client, files)
        for one in _DECLARED
        if one.name in wanted and (one.read_only or not read_only)
    ]


def _names() -> List[str]:
    return [one.name for one in _DECLARED]


def _checked(only: Iterable[str]) -> List[str]:
    names = [only] if isinstance(only, str) else list(only)
    unknown = [name for name in names if name not in _names()]
    if unknown or not names:
        known = ", ".join(_names())
        raise InvalidArgumentError(f"only= names tools; {unknown!r} are none. There are: {known}")
    return names
