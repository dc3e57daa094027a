"""The caller's end of an answer: an iterator of events that ends in one final answer."""

from __future__ import annotations

from types import TracebackType
from typing import Callable, Generator, Iterator, List, Optional, Tuple, Type, TypeVar

from .._checks import callables
from ..abort import AbortSignal
from ..errors import AbortedError, AnswerTruncatedError, InvalidArgumentError, KnowledgeError
from ..models.answers import Answer, PartialAnswer
from ..transports import Reply
from .events import Event, FinalAnswerEvent, MessageEvent
from .reader import Reader, assemble, final_event
from .source import payloads_of

OnUpdate = Callable[[PartialAnswer], object]

AnyReader = TypeVar("AnyReader", bound=Reader)

# What follows a reply in the same answer: events, then the next reply and its reader, or None.
# The signal is aborted when the stream is closed: whatever is under way then has to end.
Follow = Callable[
    [AnyReader, AbortSignal], Generator[Event, None, Optional[Tuple[Reply, AnyReader]]]
]


class AnswerStream:
    """The events of an answer as they come; the last one is a `FinalAnswerEvent`.

    >>> with client.rag.stream("What was measured?", libraries=library) as stream:  # doctest: +SKIP
    ...     for event in stream:
    ...         if isinstance(event, MessageEvent):
    ...             print(event.delta, end="")

    It ends in a FinalAnswerEvent or in an exception, never otherwise: an answer that did not come
    whole is an error. Leaving the loop, the `with` block or the last reference to it closes the
    connection at once. One stream has one reader, in one thread; `close()` may come from any.

    Raises while it is read: AnswerError (failed, truncated or malformed; `.partial` holds what
    came), RequestTimeoutError, AbortedError, UnexpectedResponseError.
    """

    def __init__(
        self,
        reply: Reply,
        reader: AnyReader,
        signal: Optional[AbortSignal] = None,
        follow: Optional[Follow[AnyReader]] = None,
        hide: Optional[Callable[[KnowledgeError], None]] = None,
    ) -> None:
        # hide: takes the key out of an error, which the server may have quoted
        self._hide = hide
        self._line = _Line(reply)
        self._assembly = reader.assembly
        self._signal = signal or AbortSignal()
        self._events = _events(self._line, reader, follow)
        self._turn: List[None] = [None]
        self._looped = False
        self._closed = False
        self._answer: Optional[Answer] = None

    @property
    def answer(self) -> Optional[Answer]:
        """The whole answer once the stream has ended well, else None."""
        return self._answer

    @property
    def partial(self) -> PartialAnswer:
        """A snapshot of what has come so far; never to be taken for the answer."""
        return self._assembly.partial()

    @property
    def text_stream(self) -> Iterator[str]:
        """The text only, piece by piece."""
        return (event.delta for event in self if isinstance(event, MessageEvent))

    def get_answer(self, on_update: Optional[OnUpdate] = None) -> Answer:
        """Read to the end and return the whole answer; `on_update(partial)` after each event."""
        callables(on_update=on_update)
        if self._answer is None:
            for event in self:
                if on_update is not None and not isinstance(event, FinalAnswerEvent):
                    on_update(self.partial)
        if self._answer is None:
            raise self._unfinished()
        return self._answer

    def show(self) -> Answer:
        """Show the answer as it comes, in one cell of a notebook or printed, and return it.

        An interrupt of the kernel stops it; the cell then says that the answer is not whole.
        """
        from ..notebook import show

        return show(self)

    def close(self) -> None:
        """Stop, and let go of the connection: from any thread, any number of times."""
        self._closed = True
        self._line.close()

    def __iter__(self) -> Iterator[Event]:
        if self._looped:
            raise InvalidArgumentError(
                "this stream was already looped over; ask again for another stream, "
                "or keep the answer from stream.answer"
            )
        self._looped = True
        return _guarded(self)

    def __next__(self) -> Event:
        try:
            self._turn.pop()
        except IndexError:
            raise InvalidArgumentError(
                "another thread is reading this stream; one stream has one reader"
            ) from None
        try:
            return self._next()
        finally:
            self._turn.append(None)

    def _next(self) -> Event:
        if self._answer is not None:
            raise StopIteration
        if self._closed or self._signal.aborted:
            raise self._stopped()
        try:
            event = next(self._events)
        except StopIteration:
            # A generator that failed once just ends: that must not look like the end of an answer.
            raise self._unfinished() from None
        except KnowledgeError as error:
            if self._signal.aborted:
                raise self._stopped() from None
            if self._hide is not None:
                self._hide(error)
            raise
        if self._closed or self._signal.aborted:
            raise self._stopped()
        if isinstance(event, FinalAnswerEvent):
            self._answer = event.answer
        return event

    def _unfinished(self) -> AnswerTruncatedError:
        words = "the reading of this answer failed before; what came is in .partial, and is not it"
        return AnswerTruncatedError(words, self.partial)

    def _stopped(self) -> Exception:
        if self._signal.aborted:
            self._line.close()
            return self._signal.error()
        return _closed_early()

    def __enter__(self) -> AnswerStream:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "ended" if self._answer else "closed" if self._closed else "open"
        return f"<AnswerStream {state}, {self.partial!r}>"


class _Line:
    """The reply that is being read now; an answer may take several, one after the other.

    closing: aborted by `close`, for whatever is under way between two replies
    """

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.closing = AbortSignal()
        self._closed = False

    def take(self, reply: Reply) -> None:
        """Go on with the next reply."""
        self.reply = reply
        if self._closed:
            reply.close()

    def close(self) -> None:
        """Close the reply, and whichever comes after it."""
        self._closed = True
        # Closed before the abort: a reply that has come to its end gives its connection back.
        self.reply.close()
        self.closing.abort(_closed_early())


def _closed_early() -> AbortedError:
    return AbortedError("the stream was closed before its end", "closed")


# Functions, not methods: a generator that refers to its own stream would keep a dropped stream
# alive, and its connection open, until the garbage collector finds the circle.


def _events(line: _Line, reader: AnyReader, follow: Optional[Follow[AnyReader]]) -> Iterator[Event]:
    while True:
        try:
            yield from assemble(payloads_of(line.reply, reader), reader)
        finally:
            line.reply.close()
        following = None
        if follow and reader.complete:
            following = yield from follow(reader, line.closing)
        if following is None:
            break
        reply, reader = following
        line.take(reply)
    yield final_event(reader)


def _guarded(stream: AnswerStream) -> Iterator[Event]:
    """A loop over `stream` that closes it however it is left."""
    try:
        while True:
            try:
                event = next(stream)
            except StopIteration:
                return
            yield event
    finally:
        stream.close()
