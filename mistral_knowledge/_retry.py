"""What may be repeated, and after how long. Pure: it decides, `_caller` waits.

A request that creates something or costs money is repeated only when it surely did not run: no
connection was made, or the server turned it away (429, or 503 with a Retry-After). Every other
request may be repeated after any failure that can pass.
"""

from __future__ import annotations

from typing import Any, Optional, Union

import attr

from .errors import APIError, InvalidArgumentError, KnowledgeError, NotSentError, TransportError

_PASSING = frozenset({408, 429, 500, 502, 503, 504})


def _count(instance: Any, attribute: Any, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidArgumentError(f"retries {attribute.name}={value!r}: give 0, 1, 2, ...")


def _seconds(instance: Any, attribute: Any, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise InvalidArgumentError(f"retries {attribute.name}={value!r}: give seconds, 0 or more")


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Retry:
    """How often a request is repeated, and how long to wait before.

    attempts: repetitions after the first try (default 2)
    backoff: seconds before the first repetition, doubled each time, with jitter (0.5)
    cap: longest wait in seconds; a server that asks for more gets its error raised at once (30)
    """

    attempts: int = attr.ib(default=2, validator=_count)
    backoff: float = attr.ib(default=0.5, validator=_seconds)
    cap: float = attr.ib(default=30, validator=_seconds)

    @classmethod
    def of(cls, value: Union[Retry, int]) -> Retry:
        """A Retry from what callers may give: one of these or a number of repetitions."""
        return value if isinstance(value, cls) else cls(attempts=value)  # type: ignore[arg-type]

    def delay(
        self, done: int, error: KnowledgeError, repeatable: bool, jitter: float
    ) -> Optional[float]:
        """Seconds to wait before the next try, or None if `error` is final.

        done: tries so far; repeatable: whether the request may run twice; jitter: 0 to 1.
        """
        if done > self.attempts or not may_repeat(error, repeatable):
            return None
        asked = error.retry_after if isinstance(error, APIError) else None
        if asked is not None:
            return asked if asked <= self.cap else None
        # Beyond 64 doublings any cap is reached, and a float would overflow.
        doubled = self.backoff * 2.0 ** min(done - 1, 64)
        return float(min(self.cap, doubled) * (0.5 + jitter / 2))


def may_repeat(error: KnowledgeError, repeatable: bool) -> bool:
    """Whether trying again can help and can do no harm."""
    if isinstance(error, NotSentError):
        return True
    if isinstance(error, TransportError):
        return repeatable or not error.maybe_executed
    if not isinstance(error, APIError) or error.status not in _PASSING:
        return False
    turned_away = error.status == 429 or (error.status == 503 and error.retry_after is not None)
    return repeatable or turned_away
