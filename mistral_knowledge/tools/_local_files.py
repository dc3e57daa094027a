"""Which files of this machine a model may upload: those below the folders it was given."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import BinaryIO, Iterable, Iterator, List, Optional, Union

from ..errors import InvalidArgumentError, KnowledgeError
from ._arguments import BadArgumentsError

# A pipe that was put in a file's place must not be waited for.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

Roots = Iterable[Union[str, "os.PathLike[str]"]]


class LocalFiles:
    """The regular files below `roots`; neither `..` nor a symbolic link leads out of them.

    Raises InvalidArgumentError for a root that is no folder.
    """

    def __init__(self, roots: Roots = ()) -> None:
        if isinstance(roots, (str, bytes, os.PathLike)):
            raise InvalidArgumentError("roots= is a list of folders: give roots=[folder]")
        self._roots: List[str] = [_folder(root) for root in roots]

    @contextlib.contextmanager
    def opened(self, path: str) -> Iterator[BinaryIO]:
        """The file at `path`, relative to a root or absolute. Raises BadArgumentsError."""
        try:
            with self._open(path) as file:
                yield file
        except KnowledgeError:
            raise  # a timeout of ours is an OSError as well
        except OSError as error:
            raise BadArgumentsError(
                f"path: it cannot be read: {error.strerror or 'OSError'}"
            ) from error

    def _open(self, path: str) -> BinaryIO:
        if not self._roots:
            raise BadArgumentsError(
                "path: no local files may be read here; give the content as text, with a name"
            )
        place = self._place(path)
        if place is None:
            raise BadArgumentsError(f"path: there is no such file below {' or '.join(self._roots)}")
        descriptor = os.open(place, _FLAGS)
        try:
            self._check(place, os.fstat(descriptor))
            return open(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def _place(self, path: str) -> Optional[str]:
        """Where it really is, all symbolic links followed; None where it is not below a root."""
        places = [os.path.realpath(os.path.join(root, path)) for root in self._roots]
        return next((one for one in places if self._holds(one) and os.path.exists(one)), None)

    def _holds(self, place: str) -> bool:
        return any(place.startswith(os.path.join(root, "")) for root in self._roots)

    def _check(self, place: str, opened: os.stat_result) -> None:
        """Look once more: a link may have been put in its place before it was opened."""
        if not stat.S_ISREG(opened.st_mode):
            raise BadArgumentsError("path: it is no regular file")
        again = os.path.realpath(place)
        if not (self._holds(again) and os.path.samestat(opened, os.stat(again))):
            raise BadArgumentsError("path: the file changed while it was opened; try again")


def _folder(root: Union[str, os.PathLike[str]]) -> str:
    place = os.path.realpath(os.fspath(root))
    if not os.path.isdir(place):
        raise InvalidArgumentError(f"roots=: there is no folder {os.fspath(root)}")
    return place
