"""The house stays in order: imports go one way (design.md 3), and pure rooms stay pure."""

from __future__ import annotations

import ast
import pathlib
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

import pytest

import mistral_knowledge

from .conftest import ROOT

PACKAGE = pathlib.Path(mistral_knowledge.__file__).parent  # where it is installed

# From low to high. A module belongs to the longest name that it begins with; it may import from
# lower rows and from its own room.
ROWS: List[Tuple[str, ...]] = [
    ("_version", "_json", "_secrets"),
    ("_error_words",),
    ("errors",),
    ("_checks",),
    ("models", "abort", "_retry", "_uploads"),
    ("answers._data", "transports._linger"),
    ("answers.events", "transports.__init__", "_multipart", "fake_api"),
    ("answers", "transports"),
    ("_caller", "_shipping"),
    ("resources",),
    ("settings",),
    ("client",),
    ("_loopback",),
    ("_scenarios",),
    ("testing", "notebook", "tools", "relay"),
    ("commands",),
    ("__main__",),
]
ROOMS: Dict[str, int] = {room: row for row, rooms in enumerate(ROWS) for room in rooms}

# What notebooks show is reached from low rooms by imports inside functions: the one exception.
FROM_ANYWHERE_IN_FUNCTIONS = "notebook"

PURE = ("_json", "_secrets", "_error_words", "errors", "_checks", "models", "_retry", "answers")
NOT_PURE = ("answers.stream",)
OUTSIDE = {
    *("asyncio", "concurrent", "contextvars", "fcntl", "getpass", "glob", "http", "locale"),
    *("multiprocessing", "os", "pathlib", "platform", "queue", "random", "requests", "sched"),
    *("secrets", "select", "selectors", "shutil", "signal", "socket", "sqlite3", "ssl"),
    *("subprocess", "sys", "tempfile", "threading", "_thread", "time", "urllib3", "uuid"),
}
PRINTING = ("commands", "__main__", "notebook._terminal")
CLOCKS = {"now", "today", "utcnow"}


class Import(NamedTuple):
    """One import: the module that was named, and whether it stands in a function."""

    name: str
    in_function: bool


def module_of(path: pathlib.Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


MODULES = {
    module_of(path): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def imports_in(node: ast.AST, in_function: bool = False) -> Iterator[Tuple[ast.stmt, bool]]:
    """Every import statement that runs, wherever it stands."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, in_function
        elif isinstance(child, ast.If) and is_type_checking(child):
            for statement in child.orelse:
                yield from imports_in(ast.Module([statement], []), in_function)
        else:
            inside = isinstance(child, (ast.FunctionDef, ast.Lambda))
            yield from imports_in(child, in_function or inside)


def own_imports(module: str) -> Iterator[Import]:
    """The imports of modules of ours, under names without `mistral_knowledge.`."""
    for statement, inside in imports_in(MODULES[module]):
        if isinstance(statement, ast.ImportFrom) and statement.level:
            folder = module.split(".")[: -statement.level]
            base = [*folder, *(statement.module.split(".") if statement.module else [])]
            for alias in statement.names:
                yield Import(existing([*base, alias.name]) or existing(base) or "?", inside)
        else:
            for name in absolute_names(statement):
                if name.split(".")[0] == "mistral_knowledge":
                    yield Import(existing(name.split(".")[1:]) or "?", inside)


def existing(parts: List[str]) -> Optional[str]:
    name = ".".join(parts)
    whole = f"{name}.__init__" if name else "__init__"
    return name if name in MODULES else whole if whole in MODULES else None


def absolute_names(statement: ast.stmt) -> List[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    assert isinstance(statement, ast.ImportFrom)
    return [] if statement.level else [statement.module or ""]


def room_of(module: str) -> str:
    parts = module.split(".")
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((name for name in names if name in ROOMS), "")


INNER = [module for module in MODULES if module != "__init__"]


@pytest.mark.parametrize("module", INNER)
def test_every_module_has_its_room(module: str) -> None:
    assert room_of(module) in ROOMS


@pytest.mark.parametrize("module", INNER)
def test_imports_go_one_way(module: str) -> None:
    own = room_of(module)
    wrong = [
        found
        for found in own_imports(module)
        if not (
            room_of(found.name) == own
            or ROOMS.get(room_of(found.name), 99) < ROOMS[own]
            or (found.in_function and room_of(found.name) == FROM_ANYWHERE_IN_FUNCTIONS)
        )
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    edges: Dict[str, Set[str]] = {
        module: {found.name for found in own_imports(module) if not found.in_function} - {module}
        for module in MODULES
    }
    while True:
        free = {module for module, targets in edges.items() if not targets & set(edges)}
        if not free:
            break
        edges = {module: targets for module, targets in edges.items() if module not in free}
    assert sorted(edges) == []


def test_only_the_mcp_server_is_asynchronous() -> None:
    asynchronous = {
        module
        for module, tree in MODULES.items()
        for statement, _ in imports_in(tree)
        for name in absolute_names(statement)
        if name.split(".")[0] in ("asyncio", "anyio", "trio")
    }
    assert asynchronous == {"tools.mcp_server"}


def test_the_front_door_imports_nothing_but_the_version() -> None:
    assert [found.name for found in own_imports("__init__")] == ["_version"]


def is_pure(module: str) -> bool:
    return module.startswith(PURE) and not module.startswith(NOT_PURE)


@pytest.mark.parametrize("module", [module for module in INNER if is_pure(module)])
def test_pure_rooms_have_no_clock_thread_socket_or_environment(module: str) -> None:
    tree = MODULES[module]
    names = {
        name.split(".")[0]
        for statement, _ in imports_in(tree)
        for name in absolute_names(statement)
    }
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    builtins = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names & OUTSIDE == set()
    assert attributes & CLOCKS == set()
    assert builtins & {"open", "print", "input", "exec", "eval"} == set()


@pytest.mark.parametrize("module", [module for module in INNER if not module.startswith(PRINTING)])
def test_only_the_command_prints(module: str) -> None:
    names = {node.id for node in ast.walk(MODULES[module]) if isinstance(node, ast.Name)}
    assert "print" not in names


@pytest.mark.parametrize(
    "module", [module for module in INNER if not module.startswith(("tools", "relay", "commands"))]
)
def test_no_module_of_the_sdk_is_asynchronous(module: str) -> None:
    found = [
        node
        for node in ast.walk(MODULES[module])
        if isinstance(node, (ast.AsyncFunctionDef, ast.Await))
    ]
    assert found == []


def test_every_room_is_on_the_architecture_page() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {module.split(".")[0] for module in INNER}
    assert sorted(room for room in rooms if not re.search(rf"\b{re.escape(room)}\b", page)) == []


def test_the_reader_of_imports_sees_every_form() -> None:
    tree = ast.parse(
        "import os, a.b\n"
        "from x import y\n"
        "if TYPE_CHECKING:\n    import free\nelse:\n    import counted\n"
        "try:\n    import tried\nexcept ImportError:\n    pass\n"
        "def f():\n    import inner\n"
        "class C:\n    import in_class\n    def g(self):\n        import deep\n"
    )
    found = [(name, inside) for node, inside in imports_in(tree) for name in absolute_names(node)]
    assert found == [
        ("os", False),
        ("a.b", False),
        ("x", False),
        ("counted", False),
        ("tried", False),
        ("inner", True),
        ("in_class", False),
        ("deep", True),
    ]
