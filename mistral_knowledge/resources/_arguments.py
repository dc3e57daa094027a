"""What callers may give where something is named, and what every call may set for itself."""

from __future__ import annotations

import re
import uuid
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Optional,
    Tuple,
    Type,
    TypedDict,
    Union,
)

import attr

from .._checks import items, refuse
from .._retry import Retry
from .._secrets import redact
from ..abort import AbortSignal
from ..errors import InvalidArgumentError
from ..models.documents import Document
from ..models.files import File
from ..models.libraries import Library
from ..transports import Timeout

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack

LibraryRef = Union[str, uuid.UUID, Library]
Libraries = Union[LibraryRef, Iterable[LibraryRef]]
DocumentRef = Union[str, uuid.UUID, Document]
FileRef = Union[str, uuid.UUID, File]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@=+~-]*\Z")


@attr.s(auto_attribs=True, frozen=True, slots=True)
class RagDefaults:
    """What a client sets for its questions; read when one is asked.

    model: () -> the model's name; streaming: () -> whether answers are streamed
    """

    model: Callable[[], str]
    streaming: Callable[[], bool]


class CallOptions(TypedDict, total=False):
    """What every call may set for itself, over what the client sets.

    timeout: a `Timeout`, seconds for the whole call, or None for no limit
    retries: a number of repetitions, or a `Retry`
    signal: an `AbortSignal` that ends the call
    """

    timeout: Union[Timeout, float, None]
    retries: Union[Retry, int]
    signal: Optional[AbortSignal]


def id_of(thing: Any, kind: Type[Any]) -> str:
    """The id of `thing`, a `kind` or its id, safe to be put into a path.

    Raises InvalidArgumentError for another kind of thing, and for an id that would change the path.
    """
    value = thing.id if isinstance(thing, kind) else thing
    value = str(value) if isinstance(value, uuid.UUID) else value
    name = kind.__name__
    if not isinstance(value, str):
        raise InvalidArgumentError(f"expected a {name} or its id, got a {type(thing).__name__}")
    if not _ID.match(value) or ".." in value:
        raise InvalidArgumentError(f"{redact(value)[:100]!r} is not the id of a {name}")
    return value


def library_tool(libraries: Libraries) -> Dict[str, Any]:
    """The tool that answers from these libraries."""
    return {"type": "document_library", "library_ids": library_ids(libraries)}


def library_ids(libraries: Libraries) -> List[str]:
    """The ids of one library or several."""
    if isinstance(libraries, (str, uuid.UUID, Library)):
        return [id_of(libraries, Library)]
    ids = [id_of(one, Library) for one in items("libraries", libraries, object, "libraries or ids")]
    if not ids:
        raise InvalidArgumentError("libraries= is empty: name at least one library")
    return ids


def document_ids(
    library: Union[LibraryRef, Document], document: Optional[DocumentRef]
) -> Tuple[str, str]:
    """(library id, document id) from a library and a document, or from a Document alone."""
    if document is None and isinstance(library, Document):
        return id_of(library.library_id, Library), id_of(library, Document)
    if document is None:
        raise InvalidArgumentError("name the library and the document, or give a Document alone")
    return id_of(library, Library), id_of(document, Document)


def checked_question(question: Any) -> str:
    """The question, which says something."""
    if not isinstance(question, str):
        refuse("question", question, "text")
    if not question.strip():
        raise InvalidArgumentError("the question is empty")
    return question


def given(**fields: Any) -> Dict[str, Any]:
    """The fields that were given: what is None is left out, never sent as null."""
    return {name: value for name, value in fields.items() if value is not None}
