"""From a method and a path to the function that answers."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, Sequence, Tuple
from urllib.parse import unquote

import attr

from .call import Call
from .checks import is_uuid
from .exchange import ApiReply, ApiRequest
from .parts import Parts
from .problems import detail, invalid, issue

Handler = Callable[[Parts, Call], ApiReply]


@attr.s(slots=True, frozen=True)
class Route:
    """One operation: a method, a path such as `/v1/files/{file_id}`, and its function."""

    method: str = attr.ib()
    template: str = attr.ib()
    handler: Handler = attr.ib()

    def pattern(self) -> re.Pattern[str]:
        """The template as a regular expression."""
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.template))


class Router:
    """Finds the route of a request: 404 for unknown paths, 405 for other methods."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._paths: Dict[str, Tuple[re.Pattern[str], Dict[str, Handler]]] = {}
        for route in routes:
            _, methods = self._paths.setdefault(route.template, (route.pattern(), {}))
            methods[route.method] = route.handler

    def find(self, request: ApiRequest) -> Tuple[Handler, Call]:
        """The function for a request, and the call to give it."""
        for pattern, methods in self._paths.values():
            match = pattern.fullmatch(request.path)
            if match is not None:
                return self._handler(methods, request.method), _call(request, match)
        raise detail(404, "Not Found")

    def _handler(self, methods: Dict[str, Handler], method: str) -> Handler:
        handler = methods.get(method)
        if handler is None:
            raise detail(405, "Method Not Allowed")
        return handler


def _call(request: ApiRequest, match: re.Match[str]) -> Call:
    names = {name: unquote(value) for name, value in match.groupdict().items()}
    issues = [
        issue(["path", name], "uuid_parsing", "Input should be a valid UUID", value)
        for name, value in names.items()
        if name.endswith("_id") and not is_uuid(value)
    ]
    if issues:
        raise invalid(issues)
    return Call(request, {name: _canonical(name, value) for name, value in names.items()})


def _canonical(name: str, value: str) -> str:
    return value.lower() if name.endswith("_id") else value


def joined(*tables: List[Route]) -> List[Route]:
    """One table out of several."""
    return [route for table in tables for route in table]
