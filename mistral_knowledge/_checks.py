"""Arguments of the wrong type get an error of ours, before anything is sent.

The checks return those that were given, that is not None, by name. The errors tell the type and
never the value, which may be a prompt. Pure.
"""

from __future__ import annotations

from collections import abc
from typing import Any, Callable, Dict, List, NoReturn

from .errors import InvalidArgumentError


def texts(**arguments: Any) -> Dict[str, str]:
    """Those that were given; each is text."""
    return _each(arguments, lambda value: isinstance(value, str), "text")


def switches(**arguments: Any) -> Dict[str, bool]:
    """Those that were given; each is True or False: a text such as "false" would count as True."""
    return _each(arguments, lambda value: isinstance(value, bool), "True or False")


def callables(**arguments: Any) -> Dict[str, Callable[..., Any]]:
    """Those that were given; each is a function."""
    return _each(arguments, callable, "a function")


def mappings(**arguments: Any) -> Dict[str, Any]:
    """Those that were given; each is a dict or the like."""
    return _each(arguments, lambda value: isinstance(value, abc.Mapping), "a dict")


def numbers(least: int, **arguments: Any) -> Dict[str, int]:
    """Those that were given; each is a whole number from `least` on."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return {name: number(name, value, least) for name, value in given.items()}


def number(name: str, value: Any, least: int) -> int:
    """`value`, a whole number from `least` on."""
    wanted = f"a whole number, {least} or more"
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(name, value, wanted)
    if value < least:
        raise InvalidArgumentError(f"{name}={value}: give {wanted}")
    return value


def items(name: str, value: Any, kind: type, kinds: str) -> List[Any]:
    """The items of `value`, each a `kind`; a text or a dict is refused, it has other items."""
    if isinstance(value, (str, bytes, abc.Mapping)) or not isinstance(value, abc.Iterable):
        refuse(name, value, f"a list of {kinds}")
    found = list(value)
    for item in found:
        if not isinstance(item, kind):
            raise InvalidArgumentError(
                f"{name}= has a {type(item).__name__} in it: give a list of {kinds}"
            )
    return found


def refuse(name: str, value: Any, wanted: str) -> NoReturn:
    """Raise the error for an argument of the wrong type."""
    raise InvalidArgumentError(f"{name}= is a {type(value).__name__}: give {wanted}")


def _each(arguments: Dict[str, Any], fits: Callable[[Any], bool], wanted: str) -> Dict[str, Any]:
    given = {name: value for name, value in arguments.items() if value is not None}
    for name, value in given.items():
        if not fits(value):
            refuse(name, value, wanted)
    return given
