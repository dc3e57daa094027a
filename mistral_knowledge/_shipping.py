"""What of a client goes to another process or machine when it is pickled, and what stays behind.

The key never goes: only where to find it there. What cannot go is refused with a TypeError, as
`pickle` does, that says why and what to do.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any, Callable, Optional

import attr

from ._secrets import Headers, is_secret
from .errors import ConfigurationError

_SECRET_NAME = re.compile(r"(?i)auth|token|secret|key|passw|pwd|cookie|session|credential|sign")
_HOWS = ("__reduce__", "__reduce_ex__", "__getstate__")


@attr.s(auto_attribs=True, frozen=True, slots=True)
class KeyLeftBehind:
    """Stands for a key that was given as text: the environment of the other process has it."""

    environment: Callable[[], Optional[str]]

    def __call__(self) -> str:
        """The key."""
        key = self.environment()
        if key and key.strip():
            return key
        raise ConfigurationError(
            "no API key here: it was given as text, api_key='...', and such a key stays behind "
            "when a client is pickled. Set MISTRAL_API_KEY for this process, or give api_key= a "
            "function that this process can import"
        )


@attr.s(auto_attribs=True, frozen=True, slots=True)
class KeyFunction:
    """A function that returns the key, by name: the other process imports it."""

    module: str
    name: str

    @classmethod
    def of(cls, function: Any) -> KeyFunction:
        """The name of a function; TypeError if it cannot be found under it."""
        module = getattr(function, "__module__", None)
        name = getattr(function, "__qualname__", None)
        if module and name and _found(sys.modules.get(module), name) == function:
            return cls(module, name)
        raise TypeError(
            "the client cannot be pickled: its api_key is a lambda, a method or a local function, "
            "which may hold the key. Give a function of a module, or none and set MISTRAL_API_KEY"
        )

    def __call__(self) -> Any:
        """The key."""
        try:
            function = _found(importlib.import_module(self.module), self.name)
        except ImportError:
            function = None
        if not callable(function):
            raise ConfigurationError(
                f"no API key here: the function {self.name} of {self.module}, which returns it, is "
                "not in this process. Put it into a module that every process can import"
            )
        return function()


def key_source(source: Any, environment: Callable[[], Optional[str]]) -> Any:
    """Where the key comes from there; `environment` is what reads it from the environment."""
    if isinstance(source, (KeyLeftBehind, KeyFunction)) or source == environment:
        return source
    return KeyFunction.of(source) if callable(source) else KeyLeftBehind(environment)


def headers(given: Headers) -> Headers:
    """The default headers, if none of them looks like a secret."""
    for name in given:
        if is_secret(name) or _SECRET_NAME.search(name):
            raise TypeError(
                f"the client cannot be pickled: the default header {name!r} may hold a secret. "
                "Make the client where it is used, or leave the header out"
            )
    return Headers(given)


def transport(given: Any) -> Any:
    """The transport, if it says by itself how it is pickled."""
    own = [vars(cls) for cls in type(given).__mro__[:-1]]
    if any(how in names for names in own for how in _HOWS):
        return given
    raise TypeError(
        f"the client cannot be pickled: its transport, a {type(given).__name__}, does not say how "
        "(it has no __reduce__ or __getstate__). Make the client where it is used"
    )


def _found(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part, None)
    return module
