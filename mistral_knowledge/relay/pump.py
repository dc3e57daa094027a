"""The thread that reads an answer, so that another can write heartbeats while nothing comes."""

from __future__ import annotations

import logging
import threading
from typing import Callable, List, Optional, Union

import attr

from ..abort import AbortSignal
from ..answers.events import Event
from ..answers.stream import AnswerStream
from ..errors import KnowledgeError
from .channel import Channel

_log = logging.getLogger("mistral_knowledge.relay")


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Opened:
    """The server began to answer."""


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Failed:
    """The answer ended in an error of ours; None for any other, whose words nobody has checked."""

    error: Optional[KnowledgeError]


Item = Union[Opened, Event, Failed]


class Pump:
    """Reads one answer into `channel`, in a thread of its own, from `start()` on.

    open: asks, and returns the stream
    signal: ends the asking, which a stream that is not there yet cannot
    on_end: called once, when the thread ends
    """

    def __init__(
        self,
        open: Callable[[], AnswerStream],
        signal: Optional[AbortSignal] = None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.channel = Channel()
        self._open = open
        self._signal = signal
        self._on_end = on_end
        self._stream: List[AnswerStream] = []
        self.thread = threading.Thread(target=self._run, name="mistral_knowledge-relay")
        self.thread.daemon = True

    def start(self) -> None:
        """Begin to ask and to read."""
        self.thread.start()

    def close(self) -> None:
        """End the answer, also upstream: from any thread, any number of times."""
        self.channel.close()
        if self._signal is not None:
            self._signal.abort("the client went away")
        for stream in self._stream:
            stream.close()

    def stop(self, error: KnowledgeError) -> None:
        """End the answer with `error`, which its reader still gets to see."""
        if self._signal is not None:
            self._signal.abort(error)

    def _run(self) -> None:
        try:
            self._read()
        except KnowledgeError as error:
            self.channel.put(Failed(error))
        except BaseException as error:  # noqa: BLE001  # a body must not just stop
            _log.error("an answer failed: %s", type(error).__name__, exc_info=error)
            self.channel.put(Failed(None))
        finally:
            self.channel.end()
            self._on_end()

    def _read(self) -> None:
        stream = self._open()
        self._stream.append(stream)
        if not self.channel.put(Opened()):
            stream.close()
            return
        for event in stream:
            if not self.channel.put(event):
                return
