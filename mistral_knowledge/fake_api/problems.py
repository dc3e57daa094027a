"""How the API says no: the shapes of its error bodies."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Union

Issue = Dict[str, Any]
_ABSENT = object()


class ApiProblem(Exception):
    """Raised inside the API to end a request with an error reply."""

    def __init__(self, status: int, payload: Any) -> None:
        super().__init__(status)
        self.status = status
        self.payload = payload


def detail(status: int, words: str) -> ApiProblem:
    """The short form: `{"detail": "words"}`."""
    return ApiProblem(status, {"detail": words})


def not_found(what: str) -> ApiProblem:
    """404 for something that is not there."""
    return detail(404, f"{what} not found")


def issue(where: Sequence[Union[str, int]], kind: str, words: str, value: Any = _ABSENT) -> Issue:
    """One entry of a 422 list: place, kind and words, with the refused value if there is one."""
    entry: Issue = {"type": kind, "loc": list(where), "msg": words}
    if value is not _ABSENT:
        entry["input"] = value
    return entry


def missing(*where: Union[str, int]) -> Issue:
    """The 422 entry for a field that was not given."""
    return issue(where, "missing", "Field required", None)


def invalid(issues: List[Issue]) -> ApiProblem:
    """422 in the form of the libraries and files endpoints."""
    return ApiProblem(422, {"detail": issues})


def invalid_chat(issues: List[Issue]) -> ApiProblem:
    """422 in the form of the chat endpoint, where the list sits inside the message."""
    return chat_problem(422, {"detail": issues})


def chat_problem(status: int, message: Any, code: Any = None) -> ApiProblem:
    """An error in the form of the chat endpoint."""
    payload = {
        "object": "error",
        "message": message,
        "type": "invalid_request_error",
        "param": None,
        "code": code,
        "raw_status_code": status,
    }
    return ApiProblem(status, payload)
