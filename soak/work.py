"""What one thread does over and over: upload, ask, list, each checked."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import Any, Callable, Counter as Counts, Dict, List, Set, Tuple

import attr

from mistral_knowledge import (
    AbortedError,
    AbortSignal,
    Answer,
    AnswerError,
    FinalAnswerEvent,
    KnowledgeClient,
    Library,
    MessageEvent,
    RateLimitError,
    ServerError,
    TransportError,
)

# What the faults may end in; any other error is a fault of ours, and so is a wrong answer.
EXPECTED = (TransportError, AnswerError, ServerError, RateLimitError)
FACTS = 40
LISTED = 120


@attr.s(auto_attribs=True, slots=True, eq=False)
class Place:
    """What all threads work on: the client, its libraries, and what is right in them."""

    client: KnowledgeClient
    facts: Library
    inbox: Library
    answers: Dict[str, Tuple[Any, ...]]
    listed: List[str]

    @classmethod
    def made(cls, client: KnowledgeClient) -> Place:
        """Fill the libraries and ask each question once; without faults."""
        facts, inbox = client.libraries.create("Facts"), client.libraries.create("Inbox")
        names = [f"fact-{number}.txt" for number in range(LISTED)]
        for number, name in enumerate(names):
            text = f"Probe{number}x measured {number * number} millikelvin in basin {number % 7}."
            client.documents.upload(facts, (name, text))
        # One word, in one passage: how rank is shared out depends on what else is uploaded.
        asked = [f"probe{number}x" for number in range(FACTS)]
        told = {one: said(client.rag.query(one, libraries=facts)) for one in asked}
        return cls(client, facts, inbox, told, sorted(names))


def said(answer: Answer) -> Tuple[Any, ...]:
    """What of an answer must be the same each time."""
    places = [(one.start_index, one.end_index, one.document_id) for one in answer.citations]
    return answer.text, tuple(places), answer.finish_reason


class Worker(threading.Thread):
    """Works until `done` is set. `counts` and `wrong` say what came of it.

    uploaded: names that the server confirmed; perhaps: those whose upload failed
    """

    def __init__(self, place: Place, number: int, seed: int, done: threading.Event) -> None:
        super().__init__(name=f"soak-worker-{number}")
        self.counts: Counts[str] = Counter()
        self.wrong: List[str] = []
        self.uploaded: Set[str] = set()
        self.perhaps: Set[str] = set()
        self._place, self._number, self._done = place, number, done
        self._random = random.Random(f"{seed} {number}")

    def run(self) -> None:
        """Do one thing after the other."""
        tasks: List[Callable[[], None]] = [self._upload, self._stream, self._query, self._list]
        tasks += [self._leave, self._abort, self._one_shot]
        while not self._done.is_set():
            task = self._random.choice(tasks)
            try:
                task()
                self.counts[task.__name__.strip("_")] += 1
            except EXPECTED as error:
                self.counts[type(error).__name__] += 1
            except BaseException as error:
                self.wrong.append(f"{task.__name__}: {error!r}")
                raise

    def _upload(self) -> None:
        count = len(self.uploaded) + len(self.perhaps)
        name = f"{self._number}-{count}.txt"
        text = f"{name} " * self._random.randrange(1, 500)
        self.perhaps.add(name)
        self._place.client.documents.upload(self._place.inbox, (name, text))
        self.perhaps.remove(name)
        self.uploaded.add(name)

    def _question(self) -> str:
        return self._random.choice(list(self._place.answers))

    def _check(self, question: str, answer: Any) -> None:
        if said(answer) != self._place.answers[question]:
            self.wrong.append(f"{question} got {said(answer)}")

    def _stream(self) -> None:
        question, text, last = self._question(), "", None
        with self._place.client.rag.stream(question, libraries=self._place.facts) as stream:
            for event in stream:
                last = event
                text += event.delta if isinstance(event, MessageEvent) else ""
        if not isinstance(last, FinalAnswerEvent) or text != last.answer.text:
            self.wrong.append(f"{question} ended in {last!r} after {text!r}")
        self._check(question, stream.answer)

    def _query(self) -> None:
        question = self._question()
        self._check(question, self._place.client.rag.query(question, libraries=self._place.facts))

    def _one_shot(self) -> None:
        question, ask = self._question(), self._place.client.rag.query
        self._check(question, ask(question, libraries=self._place.facts, streaming=False))

    def _leave(self) -> None:
        ask = self._place.client.rag.stream
        for _ in ask(self._question(), libraries=self._place.facts):
            if self._random.random() < 0.3:
                break

    def _abort(self) -> None:
        signal, ask = AbortSignal(), self._place.client.rag.stream
        try:
            for _ in ask(self._question(), libraries=self._place.facts, signal=signal):
                signal.abort("enough")
            self.wrong.append("an aborted stream ended as if nothing was")
        except AbortedError:
            pass

    def _list(self) -> None:
        found = self._place.client.documents.list(self._place.facts, page_size=25)
        names = sorted(str(document.name) for document in found)
        if names != self._place.listed:
            self.wrong.append(f"a list had {len(names)} of {len(self._place.listed)} documents")
