"""The model behind conversations: plain rules in place of a language model, the same every time.

Libraries and the web are looked into for every question. A function, and any other tool, is used
where the question names it (`function_calls` has the rules). `tool_choice` "none" uses nothing;
"any" and "required" call the first function where the question names none.
"""

from __future__ import annotations

from typing import Any, Iterator, List, Mapping, Sequence

from .composer import cut
from .conversation_tools import LIBRARY, Toolbox
from .function_calls import arguments_for, named_at
from .parts import Parts
from .steps import Asking, Piece, Run, Saying, Step, Thought
from .tool_runs import look_into_libraries, look_into_web, stand_in_for
from .turn import Turn

THINKING = ("high", "xhigh", "max")


def steps_of(
    parts: Parts, turn: Turn, toolbox: Toolbox, arguments: Mapping[str, Any]
) -> List[Step]:
    """What the model does next: it calls what has to be answered elsewhere, or it answers."""
    choice = arguments.get("tool_choice")
    toolbox = Toolbox() if choice == "none" else toolbox
    calls = calls_of(turn, toolbox, choice in ("any", "required"))
    wanted = _wanted(turn, toolbox)
    steps: List[Step] = []
    if arguments.get("reasoning_effort") in THINKING and not turn.begun:
        steps.append(Thought(_plan([*(call.name for call in calls), *wanted])))
    if calls:
        return [*steps, *calls]
    runs = [_run(parts, turn, toolbox, name) for name in wanted]
    pieces, most = _answer(turn, toolbox, runs), arguments.get("max_tokens")
    return [*steps, *runs, Saying(pieces if most is None else cut(pieces, most))]


def _wanted(turn: Turn, toolbox: Toolbox) -> List[str]:
    """The server tools that run now: none that was refused, or that leave is asked for first."""
    free = [name for name in _useful(turn, toolbox) if name not in toolbox.asking]
    return [*free, *(name for name in turn.allowed if name not in free)]


def _useful(turn: Turn, toolbox: Toolbox) -> List[str]:
    always = [LIBRARY] if toolbox.library_ids is not None else []
    always += [toolbox.web] if toolbox.web else []
    return always + [name for name in toolbox.others if named_at(turn.question, name) is not None]


def calls_of(turn: Turn, toolbox: Toolbox, must: bool) -> List[Asking]:
    """The calls that somebody else has to answer, or to give leave to; `must`: at least one."""
    named = [name for name in toolbox.functions if named_at(turn.question, name) is not None]
    if must and not named and not turn.called:
        named = list(toolbox.functions)[:1]
    calls = [
        Asking(name, arguments_for(turn.question, name, toolbox.functions[name]))
        for name in named
        if name not in turn.called
    ]
    asking = [name for name in _useful(turn, toolbox) if name in toolbox.asking - turn.called]
    return calls + [Asking(name, {"query": turn.question}, pending=True) for name in asking]


def _run(parts: Parts, turn: Turn, toolbox: Toolbox, name: str) -> Run:
    if name == LIBRARY:
        return look_into_libraries(parts, toolbox.library_ids or [], turn.question)
    if name == toolbox.web:
        return look_into_web(parts, name, turn.question)
    return stand_in_for(name, turn.question)


def _plan(names: Sequence[str]) -> str:
    if not names:
        return "There is no tool to use for this question, so I can only say what I am."
    return f"I will use {', then '.join(names)}, and answer from what comes back."


def _answer(turn: Turn, toolbox: Toolbox, runs: Sequence[Run]) -> List[Piece]:
    sections: List[List[Piece]] = [[f"{name} gave: {result}"] for name, result in turn.results]
    sections += [run.pieces for run in runs]
    sections += [[f"{name} was not run: leave was refused."] for name in turn.denied]
    return list(_joined(sections or [[nothing_to_use(toolbox)]]))


def _joined(sections: Sequence[Sequence[Piece]]) -> Iterator[Piece]:
    for number, section in enumerate(sections):
        if number:
            yield "\n\n"
        yield from section


def nothing_to_use(toolbox: Toolbox) -> str:
    """What is said where the question names no tool."""
    words = "This is the offline stand-in for a language model: it answers only from its tools."
    names = [*toolbox.functions, *toolbox.others]
    return (
        f"{words} It uses these where a question names them: {', '.join(names)}."
        if names
        else words
    )
