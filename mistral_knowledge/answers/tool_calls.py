"""Tool calls that arrive in fragments, joined until each is complete. Pure."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

from .._json import json_text
from ..models.answers import ToolCall


class ToolCallJoiner:
    """Joins fragments of tool calls: by index, or by id where the index does not tell them apart.

    Ids may be missing, null or the text "null"; names may come in pieces; arguments may be text in
    pieces or one object.
    """

    def __init__(self) -> None:
        self._open: Dict[Tuple[Any, ...], ToolCall] = {}

    def add(self, scope: Any, fragment: Mapping[str, Any]) -> None:
        """Take one fragment; `scope` tells messages apart that count their calls anew."""
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        call = self._call(scope, place(fragment.get("index")), usable_id(fragment.get("id")))
        name = function.get("name")
        if isinstance(name, str) and name != call.name:
            call.name += name
        call.arguments += arguments_text(function.get("arguments"))

    def take(self) -> List[ToolCall]:
        """The calls so far, in order; they are complete when something else follows them."""
        calls = list(self._open.values())
        self._open = {}
        return calls

    def _call(self, scope: Any, index: Any, call_id: Optional[str]) -> ToolCall:
        known = self._open.get((scope, index))
        if known is not None and call_id and known.tool_call_id and known.tool_call_id != call_id:
            return self._open.setdefault((scope, index, call_id), ToolCall(call_id, ""))
        if known is None:
            known = self._open[(scope, index)] = ToolCall(call_id, "")
        known.tool_call_id = known.tool_call_id or call_id
        return known


def usable_id(call_id: Any) -> Optional[str]:
    """The id of a call; None where it is missing, null or the text "null"."""
    return call_id if isinstance(call_id, str) and call_id not in ("", "null") else None


def place(index: Any) -> int:
    """An index from the wire; 0 where it is missing or no number."""
    return index if isinstance(index, int) else 0


def arguments_text(value: Any) -> str:
    """Arguments as JSON text: text as it is, an object encoded."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_text(value)
