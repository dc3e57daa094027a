"""For those who write a transport: its contract as a test class.

    from mistral_knowledge.testing import TransportContract

    class TestMyTransport(TransportContract):
        def make_transport(self):
            return MyTransport()

pytest finds the tests in the class that inherits. They run against a server on loopback; a
transport that needs no network overrides `play`, and puts on the same scenarios by its own means.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, List

from ._loopback import Connection, Seen, Server
from ._scenarios import (
    CUT,
    LONG,
    REFUSED,
    SHORT,
    SILENCE,
    STALL,
    Blocks,
    Gate,
    Mark,
    Outcome,
    Scenario,
    SoftTimeLimitExceeded,
    Stage,
    Step,
    pause,
    perform,
    raised,
    until,
)
from .abort import AbortSignal
from .errors import (
    AbortedError,
    ConnectionLostError,
    NotSentError,
    RequestTimeoutError,
)
from .transports import Body, Reply, Request, Transport

__all__ = [
    "CUT",
    "REFUSED",
    "SILENCE",
    "STALL",
    "Gate",
    "Mark",
    "Scenario",
    "Seen",
    "Stage",
    "Step",
    "TransportContract",
]


class TransportContract:
    """The rules of `mistral_knowledge.transports`, one test each; inherit it, give a transport."""

    def make_transport(self) -> Transport:
        """The transport to test; it is closed after each test."""
        raise NotImplementedError("return the transport to test")

    @contextlib.contextmanager
    def play(self, scenario: Scenario) -> Iterator[Stage]:
        """Put a scenario on; a transport that needs no network does it by its own means."""
        seen: List[Seen] = []
        transport = self.make_transport()

        def script(connection: Connection) -> None:
            perform(scenario, connection, seen)

        try:
            with Server(script) as server:
                url = server.url
                if scenario.before[:1] == [REFUSED]:
                    server.stop_listening()
                yield Stage(transport, url, seen)
                transport.close()
        finally:
            transport.close()

    def send(self, stage: Stage, method: str = "GET", path: str = "/", **fields: Any) -> Reply:
        """Send a request to the stage."""
        fields.setdefault("timeout", LONG)
        return stage.transport.send(Request(method, stage.url + path, **fields))

    # What is sent

    def test_says_whether_it_needs_a_key(self) -> None:
        """`needs_key` is there before anything is sent."""
        transport = self.make_transport()
        assert transport.needs_key in (True, False)
        transport.close()

    def test_the_request_arrives_as_it_is(self) -> None:
        """Method, path, query, headers and body get there unchanged, once."""
        with self.play(Scenario()) as stage:
            headers = {"Authorization": "Bearer k", "X-One": "a b"}
            reply = self.send(stage, "POST", "/a/b?c=d%20e", headers=headers, body=b"\x00body")
            assert b"".join(reply) == b""
            (seen,) = stage.seen
            assert (seen.method, seen.target, seen.body) == ("POST", "/a/b?c=d%20e", b"\x00body")
            assert seen.headers["x-one"] == "a b"

    def test_a_body_in_blocks_arrives_whole_and_is_read_once(self) -> None:
        """A `Body` of known length is read once, from its start to its end."""
        self._sends_once(Blocks(b"one", b"", b"two" * 100_000, b"three"))

    def test_a_body_of_unknown_length_arrives_whole_and_is_read_once(self) -> None:
        """A `Body` without a length is sent all the same."""
        self._sends_once(Blocks(b"one", b"two" * 1000, known=False))

    def _sends_once(self, body: Blocks) -> None:
        with self.play(Scenario()) as stage:
            self.send(stage, "POST", body=body).close()
            assert [seen.body for seen in stage.seen] == [b"".join(body._blocks)]
            assert body.iterations == 1

    def test_what_a_body_raises_comes_out_as_the_same_object(self) -> None:
        """An error of the body is not taken for one of the network, whatever its class."""
        for error in (SoftTimeLimitExceeded("limit"), BrokenPipeError("file"), KeyboardInterrupt()):
            with self.play(Scenario()) as stage:
                body: Body = Blocks(b"one", known=False, error=error)
                assert raised(type(error), lambda: self.send(stage, "POST", body=body)) is error  # noqa: B023
                assert error.__cause__ is None

    # What comes back

    def test_every_status_is_a_reply(self) -> None:
        """No status raises, whatever it means; the body of an error can be read."""
        for status in (200, 201, 204, 400, 401, 404, 429, 500, 503):
            words = [] if status == 204 else [b"words"]
            with self.play(Scenario(status, body=[*words])) as stage:
                reply = self.send(stage)
                assert (reply.status, list(reply)) == (status, words)

    def test_header_names_are_lower_case(self) -> None:
        """Names are in lower case, values as they came."""
        headers = {"Content-Type": "Text/Plain", "X-Request-ID": "AbC"}
        with self.play(Scenario(headers=headers)) as stage:
            reply = self.send(stage)
            reply.close()
            assert reply.headers["content-type"] == "Text/Plain"
            assert reply.headers["x-request-id"] == "AbC"

    def test_a_redirect_comes_back_as_it_is(self) -> None:
        """No redirect is followed: status and location come back, and one request was made."""
        for status in (301, 302, 303, 307, 308):
            headers = {"Location": "/elsewhere"}
            with self.play(Scenario(status, headers, body=[b"moved"])) as stage:
                reply = self.send(stage, "POST", body=b"x")
                assert (reply.status, reply.headers["location"]) == (status, "/elsewhere")
                assert list(reply) == [b"moved"]
                assert len(stage.seen) == 1

    def test_each_piece_comes_as_it_arrives(self) -> None:
        """A piece is handed out before the server sends the next one."""
        gate, end = Gate(), Gate()
        with self.play(Scenario(body=[b"one", gate, b"two", end])) as stage:
            pieces = iter(self.send(stage))
            assert next(pieces) == b"one"
            gate.open()
            assert next(pieces) == b"two"
            end.open()
            assert list(pieces) == []

    def test_a_body_that_was_read_is_at_its_end(self) -> None:
        """Iterating once more gives nothing, and closing changes nothing."""
        with self.play(Scenario(body=[b"one"])) as stage:
            reply = self.send(stage)
            assert list(reply) == [b"one"]
            reply.close()
            assert list(reply) == []

    # What fails

    def test_no_connection_means_not_sent(self) -> None:
        """Without a connection the request surely did not run."""
        with self.play(Scenario(before=[REFUSED])) as stage:
            error = raised(NotSentError, lambda: self.send(stage))
            assert error.maybe_executed is False

    def test_no_head_in_time_is_a_first_byte_timeout(self) -> None:
        """The limit that ran out is named."""
        with self.play(Scenario(before=[SILENCE])) as stage:
            error = raised(RequestTimeoutError, lambda: self.send(stage, timeout=SHORT))
            assert (error.which, error.maybe_executed) == ("first_byte", True)

    def test_silence_in_the_body_is_an_idle_timeout(self) -> None:
        """What came before it is handed out."""
        with self.play(Scenario(body=[b"one", SILENCE])) as stage:
            pieces = iter(self.send(stage, timeout=SHORT))
            assert next(pieces) == b"one"
            assert raised(RequestTimeoutError, lambda: next(pieces)).which == "idle"

    def test_a_body_that_breaks_off_is_a_lost_connection(self) -> None:
        """A cut body never just ends."""
        with self.play(Scenario(body=[b"one", CUT])) as stage:
            pieces = iter(self.send(stage))
            assert next(pieces) == b"one"
            assert raised(ConnectionLostError, lambda: next(pieces)).maybe_executed is True

    def test_a_failed_call_does_no_harm_to_the_next(self) -> None:
        """After a failure the transport is used again."""
        with self.play(Scenario(body=[b"one"])) as stage:
            broken = Blocks(b"one", error=SoftTimeLimitExceeded())
            raised(SoftTimeLimitExceeded, lambda: self.send(stage, "POST", body=broken))
            assert list(self.send(stage)) == [b"one"]

    # Ending a call from outside

    def test_an_aborted_signal_sends_nothing(self) -> None:
        """`send` raises what the signal says, before anything leaves."""
        signal = AbortSignal()
        signal.abort("stop")
        with self.play(Scenario()) as stage:
            error = raised(AbortedError, lambda: self.send(stage, signal=signal))
            assert error.reason == "stop"
            assert stage.seen == []

    def test_an_abort_ends_the_wait_for_the_head(self) -> None:
        """`send` returns at once, with what the signal says."""
        signal = AbortSignal()
        with self.play(Scenario(before=[STALL])) as stage:
            sending = Outcome(lambda: self.send(stage, signal=signal))
            until(lambda: bool(stage.seen))
            pause()
            signal.abort("stop")
            assert sending.raised(AbortedError).reason == "stop"

    def test_an_abort_ends_the_reading(self) -> None:
        """A blocked reader returns at once, with what the signal says."""
        signal = AbortSignal()
        with self.play(Scenario(body=[b"one", STALL])) as stage:
            pieces = iter(self.send(stage, signal=signal))
            assert next(pieces) == b"one"
            reading = Outcome(lambda: next(pieces))
            pause()
            signal.abort("stop")
            assert reading.raised(AbortedError).reason == "stop"

    def test_an_abort_between_two_pieces_counts(self) -> None:
        """Nothing is handed out after an abort."""
        signal = AbortSignal()
        with self.play(Scenario(body=[b"one", b"two"])) as stage:
            pieces = iter(self.send(stage, signal=signal))
            assert next(pieces) == b"one"
            signal.abort("stop")
            assert raised(AbortedError, lambda: next(pieces)).reason == "stop"

    def test_an_abort_with_an_error_raises_that_error(self) -> None:
        """A deadline over the whole call is a signal whose reason is the error to raise."""
        reason = RequestTimeoutError("the time is over", "total")
        signal = AbortSignal()
        with self.play(Scenario(body=[b"one", STALL])) as stage:
            pieces = iter(self.send(stage, signal=signal))
            assert next(pieces) == b"one"
            reading = Outcome(lambda: next(pieces))
            pause()
            signal.abort(reason)
            assert reading.raised(RequestTimeoutError).which == "total"

    def test_an_abort_after_the_end_changes_nothing(self) -> None:
        """A signal may outlive its calls."""
        signal = AbortSignal()
        with self.play(Scenario(body=[b"one"])) as stage:
            assert list(self.send(stage, signal=signal)) == [b"one"]
            signal.abort("stop")
            assert list(self.send(stage)) == [b"one"]

    def test_closing_ends_a_blocked_reader(self) -> None:
        """A body that is closed while it is read raises AbortedError; it never just ends."""
        with self.play(Scenario(body=[b"one", STALL])) as stage:
            reply = self.send(stage)
            pieces = iter(reply)
            assert next(pieces) == b"one"
            reading = Outcome(lambda: next(pieces))
            pause()
            reply.close()
            reading.raised(AbortedError)

    def test_a_closed_reply_gives_nothing_more(self) -> None:
        """A body that was closed before its end raises AbortedError."""
        with self.play(Scenario(body=[b"one", STALL])) as stage:
            reply = self.send(stage)
            pieces = iter(reply)
            assert next(pieces) == b"one"
            reply.close()
            raised(AbortedError, lambda: next(pieces))

    def test_closing_twice_and_unread_is_fine(self) -> None:
        """`close` may come at any time, any number of times, and does no harm to the next call."""
        with self.play(Scenario(body=[b"one"])) as stage:
            reply = self.send(stage)
            reply.close()
            reply.close()
            assert list(self.send(stage)) == [b"one"]

    def test_leaving_the_loop_does_no_harm_to_the_next_call(self) -> None:
        """A loop over the pieces may be left by `break` or by an error."""
        with self.play(Scenario(body=[b"one", b"two"])) as stage:
            for piece in self.send(stage):
                assert piece == b"one"
                break
            assert b"".join(self.send(stage)) == b"onetwo"
