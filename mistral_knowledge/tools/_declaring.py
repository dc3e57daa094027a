"""How a tool is declared: once, by its arguments, its output, and the function between them."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Type

import attr

from ..abort import AbortSignal
from ..client import KnowledgeClient
from ..models.answers import Usage
from ._local_files import LocalFiles
from .result import OnUpdate


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Task:
    """What a tool works with, beside its arguments.

    client, files: what it may reach; signal, on_update: of the one who calls it
    """

    client: KnowledgeClient
    files: LocalFiles
    signal: Optional[AbortSignal] = None
    on_update: Optional[OnUpdate] = None


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Outcome:
    """What a tool's function gives: words for the model, its declared output, further details."""

    content: str
    output: Any
    details: Dict[str, Any] = attr.ib(factory=dict)
    usage: Optional[Usage] = None


@attr.s(auto_attribs=True, frozen=True, slots=True, kw_only=True)
class Declaration:
    """A tool, apart from the client it works with.

    arguments, output: declared classes; run: (task, arguments) -> Outcome
    read_only, destructive, idempotent: as MCP uses these words
    """

    name: str
    title: str
    description: str
    arguments: Type[Any]
    output: Type[Any]
    run: Callable[[Task, Any], Outcome]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
