"""The fake transport keeps the contract of transports."""

import contextlib

import attr

from mistral_knowledge._loopback import Seen
from mistral_knowledge.errors import NotSentError
from mistral_knowledge.testing import CUT, REFUSED, SILENCE, STALL, Gate, Stage, TransportContract
from mistral_knowledge.transports.fake import Cut, Delay, FakeTransport, Raise, Scripted, Stall

MOST_REQUESTS = 3
A_WEEK = 7 * 24 * 3600


@attr.s(auto_attribs=True)
class Happens:
    """A step of a scenario as a step of a script."""

    function: object

    def run(self, moment):
        self.function()


def step_of(step):
    if isinstance(step, bytes):
        return step
    if isinstance(step, Gate):
        return Happens(step.wait)
    steps = {STALL: Stall(), SILENCE: Delay(A_WEEK), CUT: Cut(), REFUSED: Raise(NotSentError("no"))}
    return steps[step]


def seen_of(record):
    target = f"{record.path}?{record.query}" if record.query else record.path
    return Seen(record.method, target, dict(record.headers), record.body)


class TestFakeTransport(TransportContract):
    def make_transport(self):
        return FakeTransport()

    @contextlib.contextmanager
    def play(self, scenario):
        fake, seen = self.make_transport(), []
        before = [step_of(step) for step in scenario.before]
        if scenario.before[:1] != [REFUSED]:
            before.insert(0, Happens(lambda: seen.append(seen_of(fake.requests[-1]))))
        body = [step_of(step) for step in scenario.body]
        for _ in range(MOST_REQUESTS):
            fake.reply_next(Scripted(scenario.status, scenario.headers, body, before=before))
        yield Stage(fake, "http://fake.test", seen)
        fake.close()
