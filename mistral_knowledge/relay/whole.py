"""Answers that are sent in one piece, as R2R wraps them."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ..answers.events import FinalAnswerEvent, SearchResultsEvent
from ..errors import KnowledgeError
from ..models.answers import Answer, Source
from . import shapes
from .body import Amend
from .channel import Ended, Silence
from .gone import has_gone
from .pump import Failed, Pump

_TICK = 0.5

Whole = Tuple[Answer, List[Source]]
Shape = Callable[[Whole, Amend], Dict[str, Any]]


class AnswerFailed(Exception):
    """The answer ended in `error`; None stands for one that is not of ours."""

    def __init__(self, error: Optional[KnowledgeError]) -> None:
        super().__init__()
        self.error = error


def read_whole(pump: Pump, environ: Mapping[str, Any]) -> Whole:
    """(answer, sources found); raises AnswerFailed. Ends the answer when its client has gone."""
    found: List[Source] = []
    answer: Optional[Answer] = None
    while True:
        try:
            item = pump.channel.take(_TICK)
        except Silence:
            # Nothing is written meanwhile that could fail.
            if has_gone(environ):
                pump.close()
            continue
        except Ended:
            break
        if isinstance(item, Failed):
            raise AnswerFailed(item.error)
        if isinstance(item, SearchResultsEvent):
            found += item.results
        elif isinstance(item, FinalAnswerEvent):
            answer = item.answer
    if answer is None:
        raise AnswerFailed(None)
    return answer, found


def rag_results(told: Whole, amend: Amend) -> Dict[str, Any]:
    """What R2R's `retrieval/rag` answers."""
    answer, found = told
    final = amend(shapes.final(answer))
    others: Dict[str, Any] = {
        "graph_search_results": [],
        "document_search_results": [],
        "generic_tool_result": [],
    }
    results = {
        "generated_answer": answer.text,
        "search_results": {**others, **shapes.search_results(found)},
        "citations": final["citations"],
        "metadata": final["metadata"],
        "completion": answer.text,
    }
    return {"results": results}


def agent_results(told: Whole, amend: Amend) -> Dict[str, Any]:
    """What R2R's `retrieval/agent` answers."""
    answer, _ = told
    final = amend(shapes.final(answer))
    metadata = {**final["metadata"], "citations": final["citations"], "thinking": answer.thinking}
    message = {"role": "assistant", "content": answer.text, "metadata": metadata}
    conversation_id = final["conversation_id"] or ""
    return {"results": {"messages": [message], "conversation_id": conversation_id}}


def page_results(told: Whole, amend: Amend) -> Dict[str, Any]:
    """What `/api/rag` answers: the envelope that would end the stream."""
    event = FinalAnswerEvent(told[0])
    name, data = shapes.Shapes().of(event)
    return {"event": name, "data": amend(data)}
