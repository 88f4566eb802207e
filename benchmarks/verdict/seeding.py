"""Single faults: changes of a function's syntax tree, put into functions that are loaded already.

A fault's code takes the place of the sound one in the function itself (`__code__`), so that
whoever imported the function has the fault, too; what caches kept is forgotten.
"""

from __future__ import annotations

import ast
import copy
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Fault:
    """The `place`-th change that can be made in function `function` of a module."""

    module: str
    function: str
    place: int
    what: str = ""
    line: int = 0


class Site(ast.NodeVisitor):
    """All single changes of a function's syntax tree, in order."""

    def __init__(self) -> None:
        self.changes: list[tuple[ast.AST, str, str]] = []

    def visit_BinOp(self, node: ast.BinOp) -> None:
        swaps = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
        if type(node.op) in swaps:
            self.changes.append((node, "operator", swaps[type(node.op)].__name__))
            self.changes.append((node, "drop", "right term"))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self.changes.append((node, "sign", "minus dropped"))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        swaps = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.Gt, ast.GtE: ast.Lt}
        swaps |= {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
        if type(node.ops[0]) in swaps:
            self.changes.append((node, "comparison", swaps[type(node.ops[0])].__name__))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, float) and node.value != 0.0:
            self.changes.append((node, "constant", "times 1.01"))
        elif type(node.value) is int:
            self.changes.append((node, "constant", "plus 1"))

    def visit_Call(self, node: ast.Call) -> None:
        if len(node.args) >= 2 and not any(isinstance(a, ast.Starred) for a in node.args):
            self.changes.append((node, "arguments", "first two exchanged"))
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What is said of an error is no physics."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Nor is text."""

    def visit_arg(self, node: ast.arg) -> None:
        """Nor is a type."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)


def apply(change: tuple[ast.AST, str, str]) -> None:
    """Change the tree in place."""
    node: Any
    node, kind, what = change
    if kind == "operator":
        node.op = getattr(ast, what)()
    elif kind == "drop":
        _become(node, node.left)
    elif kind == "sign":
        _become(node, node.operand)
    elif kind == "comparison":
        node.ops[0] = getattr(ast, what)()
    elif kind == "constant":
        node.value = node.value * 1.01 if isinstance(node.value, float) else node.value + 1
    else:
        node.args[0], node.args[1] = node.args[1], node.args[0]


def _become(node: Any, other: Any) -> None:
    """The node takes the place of another: (a + b) becomes +a, which is a."""
    inner = copy.copy(other)
    node.__class__ = ast.UnaryOp
    node.op, node.operand = ast.UAdd(), inner


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and methods of its classes by qualified name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def changes_of(function: ast.FunctionDef) -> list[tuple[ast.AST, str, str]]:
    """What can be changed in its body."""
    site = Site()
    for statement in function.body:
        site.visit(statement)
    return site.changes


def candidates(called: set[tuple[str, str]]) -> list[Fault]:
    """Every fault in functions that are called."""
    found: list[Fault] = []
    for module in sorted({m for m, _ in called}):
        for name, function in functions(ast.parse(path_of(module).read_text())):
            if (module, name) in called:
                for place, (node, kind, what) in enumerate(changes_of(function)):
                    line = getattr(node, "lineno", 0)
                    found.append(Fault(module, name, place, f"{kind}: {what}", line))
    return found


def path_of(module: str) -> Path:
    """The file of a module of vbg."""
    at = ROOT.joinpath(*module.split("."))
    return at / "__init__.py" if at.is_dir() else at.with_suffix(".py")


def _faulty_code(fault: Fault) -> CodeType:
    """The function's code with the fault in it."""
    file = path_of(fault.module)
    tree = ast.parse(file.read_text())
    apply(changes_of(dict(functions(tree))[fault.function])[fault.place])
    whole = compile(ast.fix_missing_locations(tree), str(file), "exec", dont_inherit=True)
    for code in _inner(whole):
        if code.co_qualname == fault.function:
            return code
    raise LookupError(fault.function)


def _inner(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner(constant)


class Loaded:
    """Functions of vbg in this process, and what remembers their results."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], list[FunctionType]] = {}
        self.caches: list[Any] = []
        gc.unfreeze()
        for found in gc.get_objects():
            # not isinstance: of a weak reference without its object even that is an error
            if type(found) is FunctionType and (found.__module__ or "").startswith("vbg."):
                key = found.__module__, found.__code__.co_qualname
                self.functions.setdefault(key, []).append(found)
            elif hasattr(type(found), "cache_clear") and found.__module__.startswith("vbg."):
                self.caches.append(found)

    def put(self, fault: Fault) -> None:
        """From here on the function has the fault.  Raises LookupError if nobody has it."""
        file, code = str(path_of(fault.module)), _faulty_code(fault)
        held = [
            f
            for f in self.functions.get((fault.module, fault.function), [])
            if f.__code__.co_filename == file and f.__code__.co_freevars == code.co_freevars
        ]
        if not held:
            raise LookupError(fault.function)
        for function in held:
            function.__code__ = code
        for cache in self.caches:
            cache.cache_clear()
