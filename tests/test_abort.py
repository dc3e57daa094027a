"""abort: signals, their callbacks and deadlines, also from signal handlers and other threads."""

from __future__ import annotations

import os
import signal as os_signal
import sys
import threading
import time
from typing import Any, Callable, List

import pytest

from mistral_knowledge import AbortedError, AbortSignal, KnowledgeError, RequestTimeoutError
from mistral_knowledge.abort import Deadline

PATIENCE = 10.0


def timer_threads() -> List[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "mistral_knowledge-deadline"]


def join_timers() -> List[threading.Thread]:
    """The deadline threads that are left after they had time to end."""
    for thread in timer_threads():
        thread.join(PATIENCE)
    return timer_threads()


def no_call() -> None:
    raise AssertionError("this callback must not run")


def test_a_signal_is_aborted_once_and_keeps_its_first_reason() -> None:
    signal = AbortSignal()
    assert (signal.aborted, signal.reason) == (False, None)
    signal.raise_if_aborted()
    signal.abort("first")
    signal.abort("second")
    assert (signal.aborted, signal.reason) == (True, "first")


def test_an_abort_without_a_reason_stays_without_one() -> None:
    signal = AbortSignal()
    signal.abort()
    signal.abort("late")
    assert (signal.aborted, signal.reason) == (True, None)


@pytest.mark.parametrize(
    ("reason", "words"), [("stop", "the call was aborted: stop"), (None, "the call was aborted")]
)
def test_an_aborted_signal_raises_an_aborted_error_with_its_reason(reason: Any, words: str) -> None:
    signal = AbortSignal()
    signal.abort(reason)
    with pytest.raises(AbortedError) as caught:
        signal.raise_if_aborted()
    assert (caught.value.reason, str(caught.value)) == (reason, words)


def test_an_error_of_ours_as_reason_is_what_is_raised_each_time_anew() -> None:
    reason = RequestTimeoutError("too slow", "total")
    signal = AbortSignal()
    signal.abort(reason)
    first, second = signal.error(), signal.error()
    assert (type(first), str(first), first.which) == (RequestTimeoutError, "too slow", "total")
    assert first is not second
    assert reason not in (first, second)


def test_callbacks_run_once_in_the_order_they_were_added() -> None:
    signal, ran = AbortSignal(), []
    for name in "abc":
        signal.add_callback(lambda name=name: ran.append(name))  # type: ignore[misc]
    signal.abort()
    signal.abort()
    assert ran == ["a", "b", "c"]


def test_a_callback_added_after_the_abort_runs_at_once() -> None:
    signal, ran = AbortSignal(), []
    signal.abort()
    remove = signal.add_callback(lambda: ran.append(1))
    assert ran == [1]
    remove()


def test_a_removed_callback_does_not_run_and_can_be_removed_twice() -> None:
    signal = AbortSignal()
    remove = signal.add_callback(no_call)
    remove()
    remove()
    signal.abort()


def test_the_same_callback_may_be_added_twice_and_is_removed_one_by_one() -> None:
    signal, ran = AbortSignal(), []

    def callback() -> None:
        ran.append(1)

    signal.add_callback(callback)
    signal.add_callback(callback)()
    signal.abort()
    assert ran == [1]


def test_a_callback_may_abort_again_and_remove_itself() -> None:
    signal, ran = AbortSignal(), []

    def callback() -> None:
        ran.append(signal.reason)
        signal.abort("again")
        remove()

    remove = signal.add_callback(callback)
    signal.abort("first")
    assert ran == ["first"]


def test_callbacks_run_in_the_thread_that_aborts() -> None:
    signal, ran = AbortSignal(), []
    signal.add_callback(lambda: ran.append(threading.current_thread()))
    thread = threading.Thread(target=signal.abort)
    thread.start()
    thread.join(PATIENCE)
    assert ran == [thread]


def test_many_threads_that_abort_at_once_run_each_callback_once() -> None:
    for _ in range(50):
        signal, ran = AbortSignal(), []
        for number in range(10):
            signal.add_callback(lambda number=number: ran.append(number))  # type: ignore[misc]  # noqa: B023
        threads = [threading.Thread(target=signal.abort, args=[n]) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert sorted(ran) == list(range(10))


def test_a_callback_added_while_another_thread_aborts_always_runs() -> None:
    for _ in range(200):
        signal, ran = AbortSignal(), []
        thread = threading.Thread(target=signal.abort)
        thread.start()
        signal.add_callback(lambda: ran.append(1))  # noqa: B023
        thread.join(PATIENCE)
        assert ran == [1]


def test_wait_ends_with_its_time_or_with_the_abort() -> None:
    signal = AbortSignal()
    assert signal.wait(0) is False
    assert signal.wait(-1) is False
    signal.abort()
    assert signal.wait(PATIENCE) is True
    assert signal.wait(None) is True


@pytest.mark.parametrize("seconds", [1e300, float("inf"), threading.TIMEOUT_MAX * 2, None])
def test_wait_takes_any_number_of_seconds(seconds: Any) -> None:
    signal = AbortSignal()
    signal.add_callback(lambda: None)
    timer = threading.Timer(0.01, signal.abort)
    timer.start()
    assert signal.wait(seconds) is True
    timer.join(PATIENCE)


def test_wait_leaves_no_callback_behind() -> None:
    signal = AbortSignal()
    for _ in range(3):
        signal.wait(0)
    assert signal._callbacks == {}


def test_a_timeout_aborts_by_itself_and_says_so() -> None:
    signal = AbortSignal.timeout(0.01)
    assert signal.wait(PATIENCE) is True
    assert (signal.reason, str(signal.error())) == (
        "0.01 s are over",
        "the call was aborted: 0.01 s are over",
    )


def test_a_timeout_of_no_time_is_aborted_from_the_start() -> None:
    assert AbortSignal.timeout(0).aborted is True
    assert AbortSignal.timeout(-5).reason == "-5 s are over"


def test_a_timeout_is_over_in_time_without_any_listener_or_thread() -> None:
    before = timer_threads()
    signal = AbortSignal.timeout(0.01)
    assert (signal.aborted, signal.reason) == (False, None)
    AbortSignal().wait(0.02)
    assert signal.aborted is True
    assert timer_threads() == before


def test_a_timeout_runs_its_callbacks_when_the_time_is_over() -> None:
    rung = threading.Event()
    AbortSignal.timeout(0.01).add_callback(rung.set)
    assert rung.wait(PATIENCE)
    assert join_timers() == []


@pytest.mark.parametrize("seconds", [60.0, 1e300, float("inf")])
def test_a_timeout_keeps_no_thread_once_its_callback_is_removed(seconds: float) -> None:
    signal = AbortSignal.timeout(seconds)
    remove = signal.add_callback(no_call)
    assert len(timer_threads()) == 1
    remove()
    assert join_timers() == []
    assert signal.aborted is False


def test_a_timeout_can_be_aborted_before_its_time() -> None:
    signal = AbortSignal.timeout(60)
    signal.abort("stop")
    assert (signal.aborted, signal.reason) == (True, "stop")


def test_a_deadline_tells_the_time_that_is_left() -> None:
    assert 59 < Deadline(60, "over").remaining() <= 60
    assert Deadline(-1, "over").remaining() <= -1


def test_any_is_aborted_as_soon_as_one_of_its_signals_is_with_that_ones_reason() -> None:
    first, second = AbortSignal(), AbortSignal()
    both = AbortSignal.any(first, None, second)
    assert (both.aborted, both.reason) == (False, None)
    second.abort("second")
    first.abort("first")
    assert both.aborted is True
    assert both.reason in ("first", "second")


def test_any_of_nothing_is_never_aborted_by_itself() -> None:
    signal = AbortSignal.any(None)
    assert signal.aborted is False
    signal.abort("own")
    assert (signal.aborted, signal.reason) == (True, "own")


def test_any_does_not_abort_the_signals_it_was_made_of() -> None:
    parent = AbortSignal()
    AbortSignal.any(parent).abort()
    assert parent.aborted is False


def test_callbacks_of_any_run_once_whichever_signals_abort() -> None:
    first, second, ran = AbortSignal(), AbortSignal(), []
    both = AbortSignal.any(first, second)
    both.add_callback(lambda: ran.append(1))
    first.abort()
    second.abort()
    both.abort()
    assert ran == [1]


def test_callbacks_of_any_run_at_once_if_it_is_aborted_already() -> None:
    parent, ran = AbortSignal(), []
    parent.abort()
    AbortSignal.any(parent).add_callback(lambda: ran.append(1))
    assert ran == [1]


def test_a_removed_callback_of_any_leaves_nothing_in_its_signals() -> None:
    parent = AbortSignal()
    AbortSignal.any(parent).add_callback(no_call)()
    assert parent._callbacks == {}
    parent.abort()


def test_any_of_any_passes_the_abort_and_the_reason_on() -> None:
    root = AbortSignal()
    outer = AbortSignal.any(AbortSignal.any(root), AbortSignal.timeout(60))
    timer = threading.Timer(0.01, root.abort, ["root"])
    timer.start()
    assert outer.wait(PATIENCE) is True
    assert outer.reason == "root"
    timer.join(PATIENCE)
    assert join_timers() == []


def test_any_keeps_the_time_of_its_deadlines() -> None:
    signal = AbortSignal.any(AbortSignal(), AbortSignal.timeout(0.01))
    assert signal.wait(PATIENCE) is True
    assert signal.reason == "0.01 s are over"
    assert join_timers() == []


class on_signal:
    """A handler for an operating-system signal, while the `with` block runs."""

    def __init__(self, number: int, act: Callable[[], Any]) -> None:
        self._number, self._act = number, act

    def __enter__(self) -> None:
        self._old = os_signal.signal(self._number, lambda *_: self._act())

    def __exit__(self, *exc_info: Any) -> None:
        os_signal.signal(self._number, self._old)


@pytest.mark.parametrize("through", ["plain", "any", "timeout"])
def test_abort_in_a_signal_handler_ends_the_wait_of_the_interrupted_thread(through: str) -> None:
    root = AbortSignal() if through != "timeout" else AbortSignal.timeout(60)
    signal = AbortSignal.any(root) if through == "any" else root
    kill = threading.Timer(0.05, os.kill, [os.getpid(), os_signal.SIGUSR1])
    with on_signal(os_signal.SIGUSR1, lambda: root.abort("handler")):
        kill.start()
        began = time.monotonic()
        assert signal.wait(PATIENCE) is True
        assert time.monotonic() - began < 2
        kill.join(PATIENCE)
    assert signal.reason == "handler"
    assert join_timers() == []


def test_abort_in_a_signal_handler_may_interrupt_the_signal_at_any_point() -> None:
    """A timer interrupts this thread hundreds of times while it adds, removes, waits and aborts."""
    current: List[AbortSignal] = [AbortSignal()]
    hits: List[int] = []

    def hit() -> None:
        hits.append(1)
        current[0].abort("alarm")

    end = time.monotonic() + 0.5
    with on_signal(os_signal.SIGALRM, hit):
        os_signal.setitimer(os_signal.ITIMER_REAL, 0.0003, 0.0003)
        try:
            while time.monotonic() < end:
                ran: List[int] = []
                signal = current[0] = AbortSignal.any(AbortSignal(), AbortSignal())
                remove = signal.add_callback(lambda: ran.append(1))  # noqa: B023
                signal.wait(0.0002)
                # Asked before the callback is removed: the timer may strike right behind that.
                aborted = signal.aborted
                ran_by_then = len(ran)
                remove()
                assert ran_by_then == 1 if aborted else len(ran) <= 1
        finally:
            os_signal.setitimer(os_signal.ITIMER_REAL, 0)
    assert len(hits) > 50


@pytest.mark.parametrize("step", ["abort", "add_callback", "_run", "wait", "aborted", "reason"])
def test_a_handler_may_abort_between_any_two_lines_of_the_signal(step: str) -> None:
    """A trace function stands for the handler: it aborts once at each line of `step` in turn."""
    for line in range(1, 20):
        signal, ran, left = AbortSignal(), [], [line]

        def trace(frame: Any, event: str, _: Any) -> Any:
            if (
                frame.f_code.co_name != step
                or "mistral_knowledge/abort" not in frame.f_code.co_filename
            ):
                return trace if event == "call" else None
            if event == "line":
                left[0] -= 1  # noqa: B023
                if left[0] == 0:  # noqa: B023
                    signal.abort("handler")  # noqa: B023
            return trace

        signal.add_callback(lambda: ran.append(1))  # noqa: B023
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            signal.add_callback(lambda: ran.append(2))  # noqa: B023
            signal.wait(0)
            signal.abort("later")
        finally:
            sys.settrace(before)
        assert sorted(ran) == [1, 2]
        assert signal.reason in ("handler", "later")


def test_a_wait_is_over_in_time_although_a_signal_handler_outlasts_it() -> None:
    handled: List[bool] = []
    with on_signal(os_signal.SIGALRM, lambda: handled.append(AbortSignal().wait(0.1))):
        os_signal.setitimer(os_signal.ITIMER_REAL, 0.01)
        assert AbortSignal().wait(0.05) is False
    assert handled == [False]


def test_waits_of_next_to_no_time_always_end() -> None:
    signal = AbortSignal()
    assert [signal.wait(0) or signal.wait(1e-6) for _ in range(20_000)] == [False] * 20_000


def test_deadlines_of_next_to_no_time_always_ring() -> None:
    for _ in range(200):
        rung = threading.Event()
        signal = AbortSignal.timeout(1e-5)
        signal.add_callback(rung.set)
        assert rung.wait(PATIENCE)
    assert join_timers() == []


@pytest.mark.parametrize("cls", [KnowledgeError, AbortedError])
def test_every_error_of_ours_may_be_the_reason(cls: Any) -> None:
    signal = AbortSignal()
    signal.abort(cls("why"))
    assert str(signal.error()) == "why"
