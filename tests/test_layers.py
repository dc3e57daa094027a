"""Imports go one way, and pure rooms stay pure; docs/architecture.md draws the same picture."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "mistral_knowledge"

# Low to high: a module imports only from its own line or from lines above it. The first entry
# that begins a module's name places it.
LAYERS = [
    ["_version", "_secrets"],
    ["_error_words"],
    ["errors"],
    ["models", "abort", "_retry", "_uploads"],
    ["_multipart", "answers.events", "answers._data", "fake_api", "transports.__init__"],
    ["transports._linger"],
    ["answers", "transports"],
    ["_caller", "settings"],
    ["resources"],
    ["client"],
    ["_loopback", "_scenarios", "testing", "commands"],
    ["__main__"],
]

# The rooms that have no clock, thread, socket or environment.
PURE = ["_secrets", "_error_words", "errors", "_retry", "models"]
PURE_ANSWERS = ["_data", "assembly", "chat", "content", "conversations", "events", "reader"]
PURE_ANSWERS += ["rounds", "sse", "tool_calls"]
IMPURE_MODULES = {"time", "threading", "socket", "os", "queue", "random", "requests", "urllib3"}

# Imports inside functions keep `import mistral_knowledge` light; those that go up are listed here.
UPWARDS_INSIDE_FUNCTIONS = set()


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if name != "__init__":
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def layer_of(name):
    places = [
        (len(entry), number)
        for number, layer in enumerate(LAYERS)
        for entry in layer
        if name == entry or name.startswith(f"{entry}.") or name == entry.replace(".__init__", "")
    ]
    assert places, f"{name} has no place in LAYERS"
    return max(places)[1]


def imports(name, tree, inside_functions):
    """(imported module of ours, line) of every import, those for type checkers excepted."""
    package = name.split(".")[:-1]
    for node in walk(tree, inside_functions):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            target = [*base, *(node.module.split(".") if node.module else [])]
            if node.module and is_module(target):
                yield ".".join(target), node.lineno
            else:
                for alias in node.names:
                    yield ".".join([*target, alias.name]), node.lineno


def is_module(parts):
    path = PACKAGE.joinpath(*parts)
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def walk(node, inside_functions, inside=False):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        function = inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(child, (ast.Import, ast.ImportFrom)) and inside == inside_functions:
            yield child
        yield from walk(child, inside_functions, function)


def upward(inside_functions):
    for name, tree in modules():
        for target, line in imports(name, tree, inside_functions):
            if is_module(target.split(".")) and layer_of(target) > layer_of(name):
                yield name, target, line


def test_every_module_imports_only_from_its_layer_or_below():
    assert list(upward(inside_functions=False)) == []


def test_imports_inside_functions_go_no_higher_either():
    found = {(name, target) for name, target, _ in upward(inside_functions=True)}
    assert found == UPWARDS_INSIDE_FUNCTIONS


def test_the_rules_can_fail():
    source = "from ..client import KnowledgeClient\ndef f():\n    from .. import __main__\n"
    tree = ast.parse(source)
    assert list(imports("answers.chat", tree, False)) == [("client", 1)]
    assert list(imports("answers.chat", tree, True)) == [("__main__", 3)]
    assert layer_of("client") > layer_of("answers.chat")


def pure_modules():
    for name, tree in modules():
        first, _, rest = name.partition(".")
        if first in PURE or (first == "answers" and rest in PURE_ANSWERS):
            yield name, tree


@pytest.mark.parametrize(("name", "tree"), list(pure_modules()), ids=lambda one: str(one)[:40])
def test_pure_rooms_import_no_clock_thread_socket_or_environment(name, tree):
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    assert found & IMPURE_MODULES == set()


def test_every_room_is_on_the_architecture_page():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {name.split(".")[0] for name, _ in modules()}
    named = {room for room in rooms if re.search(rf"\b{re.escape(room)}\b", page)}
    assert sorted(rooms - named) == []
