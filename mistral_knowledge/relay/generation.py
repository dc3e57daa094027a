"""R2R's generation and search settings, as arguments of `client.rag`."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

from ..resources._arguments import given
from . import fields, kinds
from .problems import Problem, invalid

_OF_A_FILTER = ("$overlap", "$in", "$eq")


def generation(config: Mapping[str, Any], place: str, ignored: List[str]) -> Dict[str, Any]:
    """(`stream` and) completion arguments from a generation config."""
    found = fields.used(config, fields.GENERATION, ignored, f"{place}.")
    effort = kinds.text(found, "reasoning_effort")
    thinking = kinds.flag(found, "extended_thinking")
    return given(
        stream=kinds.flag(found, "stream"),
        model=_model(kinds.text(found, "model"), place, ignored),
        temperature=kinds.number(found, "temperature"),
        top_p=kinds.number(found, "top_p"),
        max_tokens=kinds.number(found, "max_tokens_to_sample"),
        response_format=kinds.mapping(found, "response_format") or None,
        reasoning_effort=effort or ("high" if thinking else None),
    )


def chosen_libraries(
    settings: Mapping[str, Any], libraries: Sequence[str], ignored: List[str]
) -> List[str]:
    """The libraries that `search_settings.filters` leaves; all of the relay's without a filter."""
    found = fields.used(settings, fields.SEARCH, ignored, "search_settings.")
    filters = kinds.mapping(found, "filters")
    if not filters:
        return list(libraries)
    if set(filters) != {"collection_ids"}:
        raise invalid("search_settings.filters: only collection_ids has a counterpart, a library")
    wanted = _ids(filters["collection_ids"])
    unknown = [name for name in wanted if name not in libraries]
    if unknown:
        raise Problem(
            403, "a collection_id is not a library of this relay", "PermissionDeniedError"
        )
    return wanted


def _ids(condition: Any) -> List[str]:
    if isinstance(condition, dict) and len(condition) == 1 and set(condition) <= set(_OF_A_FILTER):
        (condition,) = condition.values()
    ids = [condition] if isinstance(condition, str) else condition
    if not isinstance(ids, list) or not ids or not all(isinstance(one, str) for one in ids):
        raise invalid(
            "search_settings.filters.collection_ids: give ids, as $overlap, $in or $eq do"
        )
    return ids


def _model(name: Any, place: str, ignored: List[str]) -> Any:
    provider, slash, model = (name or "").partition("/")
    if not slash or provider in ("mistral", "mistralai"):
        return (model if slash else name) or None
    ignored.append(f"{place}.model: only models of Mistral's can answer")
    return None
