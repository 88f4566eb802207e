"""Whatever vbg leaves for its user is written whole or not at all, through one room."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import vbg

ROOT = Path(vbg.__file__).parent
# (file, function): what is nobody's work and nobody's loss: scratch, a report of a crash, logs
# and journals that grow by lines, a result that grows row by row
SCRATCH = {
    ("tui/crash.py", "write_report"),
    ("tui/actions/general.py", "_editor"),
    ("tui/session/kept/journal.py", "start"),
    ("tui/session/kept/journal.py", "saved"),
    ("analysis/studies/table.py", "__enter__"),
    ("validate/child.py", "main"),
    ("validate/children.py", "_start"),
    ("io/runs/hdf5.py", "_create"),
    ("export/fmu/archive.py", "write_fmu"),
    ("solids/occ.py", "solid_from"),
    ("solution.py", "write_table"),  # into the new file of `replacing` that it is handed
    # into the folder that `_write` makes beside its target and that takes the name when it is full
    ("tui/tasks/collecting.py", "_fill"),
    ("tui/tasks/collecting.py", "_one"),
}
WRITES = {"write_text", "write_bytes", "savefig", "savetxt", "saving", "copy2", "copyfile"}
_WRITING = re.compile(r"[wax]")


def writers(tree: ast.AST) -> list[tuple[str, str]]:
    """Functions that write a file by themselves, outside a `with replacing(...)`, and how."""
    found = []

    def look(node: ast.AST, function: str, safe: bool) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        if isinstance(node, ast.With):
            safe = safe or any("replacing(" in ast.unparse(item) for item in node.items)
        if isinstance(node, ast.Call) and not safe:
            named = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if named in WRITES or _opens_to_write(node):
                found.append((function, ast.unparse(node.func)))
        for child in ast.iter_child_nodes(node):
            look(child, function, safe)

    look(tree, "", False)
    return found


def _opens_to_write(node: ast.Call) -> bool:
    named = ast.unparse(node.func)
    if named != "open" and not named.endswith((".open", "h5py.File")):
        return False
    texts = [a.value for a in node.args[named == "open" :] if isinstance(a, ast.Constant)]
    texts += [
        k.value.value
        for k in node.keywords
        if k.arg == "mode" and isinstance(k.value, ast.Constant)
    ]
    return any(isinstance(t, str) and len(t) <= 3 and _WRITING.search(t) for t in texts)


@pytest.mark.slow
def test_every_writer_is_whole_or_named_here():
    found = {
        (str(file.relative_to(ROOT)), *one)
        for file in ROOT.rglob("*.py")
        if "platform" not in file.parts
        for one in writers(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert not {one for one in found if one[:2] not in SCRATCH}


@pytest.mark.parametrize(
    "line", ["Path(x).write_text(y)", "open(x, 'w')", "figure.savefig(x)", "p.open('wb')"]
)
def test_the_check_sees_a_writer(line):
    assert writers(ast.parse(f"def f():\n    {line}"))
    assert not writers(ast.parse(f"def f():\n    with replacing(a) as b:\n        {line}"))
