"""A short queue between the thread that reads an answer and the one that writes it."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Deque


class Silence(Exception):
    """Nothing came in time."""


class Ended(Exception):
    """Nothing more will come."""


class Channel:
    """First in, first out; `put` waits while `size` items are in it. Either side may end it."""

    def __init__(self, size: int = 16) -> None:
        self._size = size
        self._items: Deque[Any] = deque()
        self._changed = threading.Condition()
        self._ended = False
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether the taking side has gone."""
        return self._closed

    def put(self, item: Any) -> bool:
        """Add an item once there is room; False where nobody takes it any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._size)
            if not self._closed:
                self._items.append(item)
            self._changed.notify_all()
            return not self._closed

    def end(self) -> None:
        """Say that nothing more comes; waits until all is taken, or the taking side has gone."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._closed or not self._items)

    def take(self, seconds: float) -> Any:
        """The next item; raises Silence after `seconds`, Ended when there is none to come."""
        with self._changed:
            self._changed.wait_for(self._has_news, seconds)
            if self._items and not self._closed:
                item = self._items.popleft()
                self._changed.notify_all()
                return item
        if self._ended or self._closed:
            raise Ended
        raise Silence

    def first(self, seconds: float) -> Any:
        """The next item, which stays in it; None where none comes within `seconds`."""
        with self._changed:
            self._changed.wait_for(self._has_news, seconds)
            return self._items[0] if self._items else None

    def close(self) -> None:
        """Take nothing more."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()

    def _has_news(self) -> bool:
        return bool(self._items) or self._ended or self._closed
