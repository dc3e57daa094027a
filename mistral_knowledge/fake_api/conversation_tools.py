"""The tools of a conversation: how they are checked, and what the model may do with them."""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Optional, Sequence

import attr

from .checks import Field, Fields, Place, issues_of
from .problems import Issue, issue

LIBRARY = "document_library"
_WEB = ("web_search", "web_search_premium")

_CONFIGURED: Fields = {"type": Field("str"), "tool_configuration": Field("object")}
_KINDS: Dict[str, Fields] = {
    "function": {
        "type": Field("str"),
        "function": Field("object", required=True, nullable=False),
    },
    **dict.fromkeys((*_WEB, "code_interpreter", "image_generation"), _CONFIGURED),
    LIBRARY: {**_CONFIGURED, "library_ids": Field("list", required=True, nullable=False)},
    "connector": {
        **_CONFIGURED,
        "connector_id": Field("str", required=True, nullable=False),
        "authorization": Field("object"),
    },
}
_FUNCTION: Fields = {
    "name": Field("str", required=True, nullable=False),
    "description": Field("str", nullable=False),
    "strict": Field("bool", nullable=False),
    "parameters": Field("object", required=True, nullable=False),
}
_CONFIGURATION: Fields = {
    name: Field("list") for name in ("include", "exclude", "requires_confirmation")
}


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Toolbox:
    """What the model may use.

    library_ids: the libraries to search, or None; web: the name of the web tool, or None
    others: server tools that do not run offline, by name; functions: parameters by name
    asking: the names of tools that need leave
    """

    library_ids: Optional[List[str]] = None
    web: Optional[str] = None
    others: Sequence[str] = ()
    functions: Dict[str, Dict[str, Any]] = attr.ib(factory=dict)
    asking: FrozenSet[str] = frozenset()


def toolbox_of(tools: Sequence[Dict[str, Any]]) -> Toolbox:
    """What checked `tools` amount to."""
    kinds = [_kind(tool) for tool in tools]
    libraries = [tool["library_ids"] for tool in tools if _kind(tool) == LIBRARY]
    ids = [one.lower() for several in libraries for one in several]
    functions = [tool["function"] for tool in tools if _kind(tool) == "function"]
    return Toolbox(
        library_ids=list(dict.fromkeys(ids)) if libraries else None,
        web=next((kind for kind in kinds if kind in _WEB), None),
        others=[name for tool in tools for name in _others(tool)],
        functions={function["name"]: function["parameters"] for function in functions},
        asking=frozenset(name for tool in tools for name in _listed(tool, "requires_confirmation")),
    )


def _others(tool: Dict[str, Any]) -> List[str]:
    kind = _kind(tool)
    if kind == "connector":
        # What a connector offers is known to its server only, except for what is named here.
        names = [*_listed(tool, "include"), *_listed(tool, "requires_confirmation")]
        return list(dict.fromkeys(names))
    return [kind] if kind in ("code_interpreter", "image_generation") else []


def _listed(tool: Dict[str, Any], name: str) -> List[str]:
    return list((tool.get("tool_configuration") or {}).get(name) or [])


def _kind(tool: Dict[str, Any]) -> str:
    return str(tool.get("type") or "function")


def tool_issues(tools: Sequence[Any]) -> List[Issue]:
    """What is wrong with `tools`."""
    found: List[Issue] = []
    for number, tool in enumerate(tools):
        found += issues_of_tool(tool, ("body", "tools", number))
    return found


def issues_of_tool(tool: Any, place: Place) -> List[Issue]:
    """What is wrong with one tool."""
    fields = _KINDS.get(_kind(tool)) if isinstance(tool, dict) else None
    if fields is None:
        words = "Input tag does not match any of the expected tags"
        return [issue(place, "union_tag_invalid", words, tool)]
    found = issues_of(tool, fields, place, forbid_extra=True)
    if found:
        return found
    if "function" in tool:
        return issues_of(tool["function"], _FUNCTION, (*place, "function"), forbid_extra=True)
    return _library_issues(tool, place) + _configuration_issues(tool, place)


def _library_issues(tool: Dict[str, Any], place: Place) -> List[Issue]:
    ids, place = tool.get("library_ids"), (*place, "library_ids")
    if ids == []:
        words = "List should have at least 1 item after validation, not 0"
        return [issue(place, "too_short", words, ids)]
    found: List[Issue] = []
    for number, library_id in enumerate(ids or []):
        found += Field("uuid", nullable=False).issues((*place, number), library_id)
    return found


def _configuration_issues(tool: Dict[str, Any], place: Place) -> List[Issue]:
    configuration, place = tool.get("tool_configuration") or {}, (*place, "tool_configuration")
    found = issues_of(configuration, _CONFIGURATION, place, forbid_extra=True)
    if configuration.get("include") and configuration.get("exclude"):
        words = "Value error, include and exclude are mutually exclusive"
        found.append(issue(place, "value_error", words, configuration))
    return found
