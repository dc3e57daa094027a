"""What a model does on its way to an answer, before it takes the form of any endpoint."""

from __future__ import annotations

from typing import Any, Dict, List, Union

import attr


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Reference:
    """A citation: the text just before it comes from what `tool` found."""

    tool: str
    title: str
    url: str = attr.ib(repr=False)


Piece = Union[str, Reference]


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Thought:
    """Words of reasoning."""

    text: str


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Asking:
    """A call that somebody else has to answer, or, if `pending`, to give leave to."""

    name: str
    arguments: Dict[str, Any]
    pending: bool = False


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Run:
    """A tool that was run: what it was given, what it tells, how many tokens it read, and what it
    adds to the answer."""

    name: str
    arguments: Dict[str, Any]
    info: Dict[str, Any]
    tokens: int = 0
    pieces: List[Piece] = attr.ib(factory=list)


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Saying:
    """Words of the answer, with references in them."""

    pieces: List[Piece]


Step = Union[Thought, Asking, Run, Saying]
