"""A tool that a model calls: what it is told about it, and how a call is carried out."""

from __future__ import annotations

from typing import Any, Dict, Optional

import attr

from ..abort import AbortSignal
from ..client import KnowledgeClient
from ..errors import AbortedError, KnowledgeError
from ._arguments import BadArgumentsError, read_arguments
from ._declaring import Declaration, Outcome, Task
from ._failures import aborted, failed, misused
from ._local_files import LocalFiles
from ._schema import object_schema
from .result import OnUpdate, ToolResult


class KnowledgeTool:
    """One of the nine tools; `knowledge_tools` makes them."""

    def __init__(self, declared: Declaration, client: KnowledgeClient, files: LocalFiles) -> None:
        self._declared = declared
        self._client = client
        self._files = files

    @property
    def name(self) -> str:
        """Its name, `mistral_...`."""
        return self._declared.name

    @property
    def title(self) -> str:
        """A name for people."""
        return self._declared.title

    @property
    def description(self) -> str:
        """What the model is told about it; says what costs money."""
        return self._declared.description

    @property
    def parameters(self) -> Dict[str, Any]:
        """The JSON Schema of its arguments."""
        return object_schema(self._declared.arguments, closed=True)

    @property
    def output_schema(self) -> Dict[str, Any]:
        """The JSON Schema of `structured_content`."""
        return object_schema(self._declared.output)

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        return self._declared.read_only

    @property
    def destructive(self) -> bool:
        """Whether something may be lost by it."""
        return self._declared.destructive

    @property
    def idempotent(self) -> bool:
        """Whether the same call twice does no more than once."""
        return self._declared.idempotent

    def as_function(self) -> Dict[str, Any]:
        """Its declaration for function calling, as Mistral and OpenAI take it in `tools`."""
        described = {"name": self.name, "description": self.description}
        return {"type": "function", "function": {**described, "parameters": self.parameters}}

    def execute(
        self,
        params: Any,
        signal: Optional[AbortSignal] = None,
        on_update: Optional[OnUpdate] = None,
    ) -> ToolResult:
        """Carry out a call.

        params: the arguments as a model sent them, decoded; anything is borne
        signal: ends the call; the result is then an error with `details["aborted"]`
        on_update: called with partial results while an answer comes (`mistral_document_query`)

        What a model does wrong and what the API refuses come back as an error result. Only what is
        wrong in the program is raised.
        """
        task = Task(self._client, self._files, signal, on_update)
        try:
            arguments = read_arguments(self._declared.arguments, params)
            return self._result(self._declared.run(task, arguments))
        except BadArgumentsError as error:
            return misused(self.name, params, error)
        except AbortedError:
            return aborted(self.name, params)
        except KnowledgeError as error:
            return failed(self.name, params, error)

    def _result(self, outcome: Outcome) -> ToolResult:
        return ToolResult(
            outcome.content,
            structured_content=_told(outcome.output),
            details={"tool": self.name, **outcome.details},
            usage=outcome.usage,
        )

    def __repr__(self) -> str:
        return f"<KnowledgeTool {self.name}>"


def _told(output: Any) -> Dict[str, Any]:
    """A declared object as JSON; what is not known is left out."""

    def known(_: Any, value: Any) -> bool:
        return value is not None

    return attr.asdict(output, filter=known)
