"""The house: no circle of modules, and nobody looks under another's underscore."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx
import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "vbg").rglob("*.py"))
# public by their documentation in spite of the underscore: os._exit, methods of named tuples,
# and what the interpreter itself calls at its end, which os._exit leaves out
# named so in the manuals of Python and of numba (struct proxies)
PUBLIC = {"_exit", "_replace", "_asdict", "_fields", "_run_exitfuncs", "_getvalue"}
PUBLIC |= {"_tm", "_data_layout"}  # of numba's code generator, which has no other name for them


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    """Modules of vbg that a module imports, wherever it does: inside of functions and for
    type checking only as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in below if name in MODULES)
            if any(name not in MODULES for name in below):
                yield node.module


def test_no_circle_of_modules_is_left():
    graph = networkx.DiGraph()
    for name, path in MODULES.items():
        graph.add_edges_from((name, other) for other in imported(tree_of(path)) if other != name)
    circles = [sorted(c) for c in networkx.strongly_connected_components(graph) if len(c) > 1]
    assert circles == []


def defined(tree: ast.Module) -> set[str]:
    """Names of functions, classes, fields and attributes that a file gives itself."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
    return found


def peeked(tree: ast.Module) -> Iterator[str]:
    """Underscore attributes of objects of other files, and underscore names from them."""
    own = defined(tree) | PUBLIC
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(attr=name) if name.startswith("_") and not name.startswith("__"):
                if name not in own:
                    yield ast.unparse(node)
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("vbg"):
                hidden = (a.name for a in names if a.name.startswith("_"))
                yield from (f"{module}.{name}" for name in hidden if not name.startswith("__"))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_module_reads_anothers_underscore(path):
    assert list(peeked(tree_of(path))) == []


def test_what_the_page_for_contributors_says_to_look_for_is_there():
    rows = [
        [cell.replace("`", "").split("; ") for cell in line.split("|")[2:4]]
        for line in (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
        if line.startswith("| ") and ".py`" in line
    ]
    assert len(rows) >= 10
    for files, words in rows:
        for file, word in zip(files, words, strict=True):
            assert word.strip() in (ROOT / "vbg" / file.strip()).read_text("utf-8"), (file, word)


def test_no_line_of_the_changelog_stands_twice():
    """Git merges this file by keeping both sides (`merge=union`): lines that one branch moves or
    betters come back, without a conflict, with another branch that wrote a line beside them."""
    blocks = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n- ")[1:]
    lines = Counter(" ".join(block.split("\n\n")[0].split()) for block in blocks)
    again = [line[:60] for line, times in lines.items() if times > 1]
    assert not again, f"git checkout main -- CHANGELOG.md, write your own line again: {again}"
