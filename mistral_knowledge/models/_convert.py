"""JSON to models: one cattrs converter that nothing in a reply can break, except a missing id."""

import datetime
from collections import abc
from typing import Any, Callable, Dict, Optional, Type, TypeVar

import attr
import cattrs
from cattrs.gen import make_dict_structure_fn, override

from ..errors import UnexpectedResponseError

Model = TypeVar("Model")


def _text(value: Any, _: Any) -> Optional[str]:
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, (int, float)) else None


def _whole(value: Any, _: Any) -> Optional[int]:
    if value is None or type(value) is int:
        return value
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _flag(value: Any, _: Any) -> Optional[bool]:
    return value if isinstance(value, bool) else None


def _mapping(value: Any, _: Any) -> Optional[Dict[str, Any]]:
    return dict(value) if isinstance(value, abc.Mapping) else None


def moment(value: Any, _: Any = None) -> Optional[datetime.datetime]:
    """An aware datetime from unix seconds or ISO 8601 text; None from anything else."""
    if isinstance(value, str) and value.isdecimal():
        value = _whole(value, _)
    if isinstance(value, str):
        return _iso(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return datetime.datetime.fromtimestamp(value, datetime.timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None


def _iso(text: str) -> Optional[datetime.datetime]:
    # Before 3.11 fromisoformat knows neither "Z" nor fractions of other than 3 or 6 digits.
    text = text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text
    try:
        parsed = datetime.datetime.fromisoformat(text)
    except ValueError:
        parsed_or_none = _iso_with_odd_fraction(text)
        if parsed_or_none is None:
            return None
        parsed = parsed_or_none
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=datetime.timezone.utc)


def _iso_with_odd_fraction(text: str) -> Optional[datetime.datetime]:
    head, dot, rest = text.partition(".")
    digits = len(rest) - len(rest.lstrip("0123456789"))
    fraction, zone = rest[:digits], rest[digits:]
    if not dot or not fraction:
        return None
    try:
        return datetime.datetime.fromisoformat(f"{head}.{fraction[:6]:0<6}{zone}")
    except ValueError:
        return None


_READERS: Dict[Any, Callable[[Any, Any], Any]] = {
    str: _text,
    int: _whole,
    bool: _flag,
    datetime.datetime: moment,
    Dict[str, Any]: _mapping,
}


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=False)
    for kind, read in _READERS.items():
        if isinstance(kind, type):
            converter.register_structure_hook(kind, read)
        # Optional[X] gets X's reader too: it spares cattrs a dispatch for every field it reads.
        _read_with(converter, (kind, Optional[kind]), read)
    return converter


def _read_with(converter: cattrs.Converter, kinds: Any, read: Any) -> None:
    converter.register_structure_hook_func(lambda kind: kind in kinds, read)


CONVERTER = _converter()

# What we add to a reply; never read from one.
_OURS = frozenset({"raw", "created"})


def register(**renamed: str) -> Callable[[Type[Model]], Type[Model]]:
    """Class decorator: teach the converter a model. `renamed` maps fields to their wire names."""

    def decorate(cls: Type[Model]) -> Type[Model]:
        names: Any = {field.name for field in attr.fields(cls)}  # type: ignore[arg-type]
        overrides: Any = {name: override(rename=wire) for name, wire in renamed.items()}
        overrides.update({name: override(omit=True) for name in names & _OURS})
        build = make_dict_structure_fn(
            cls, CONVERTER, _cattrs_detailed_validation=False, **overrides
        )

        def structure(payload: Any, kind: Any) -> Any:
            model: Any = build(payload, kind)
            model.raw = payload
            return model

        CONVERTER.register_structure_hook(cls, structure)
        return cls

    return decorate


def parse(cls: Type[Model], payload: Any) -> Model:
    """`payload` as a `cls`; UnexpectedResponseError where it is no object or has no id."""
    if not isinstance(payload, abc.Mapping):
        kind = type(payload).__name__
        raise UnexpectedResponseError(f"expected a {cls.__name__}, got a {kind}")
    try:
        return CONVERTER.structure(payload, cls)
    except KeyError as error:
        fault = f"expected a {cls.__name__}, got an object without a usable {error}"
        raise UnexpectedResponseError(fault) from None


def required_text(instance: Any, attribute: Any, value: Any) -> None:
    """attrs validator: an id that is there."""
    if not isinstance(value, str) or not value:
        raise KeyError(attribute.name)
