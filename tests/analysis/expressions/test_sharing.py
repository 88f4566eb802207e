"""Expressions whose parts occur many times are rewritten and written part by part."""

import pytest

sympy = pytest.importorskip("sympy")
from sympy.printing.pycode import PythonCodePrinter  # noqa: E402

from vbg.analysis.symbolic.rewriting.sharing import (  # noqa: E402
    remembering,
    renumbered,
    replaced,
    rewritten,
    written_once,
)

x, y, z = sympy.symbols("x y z", real=True)


def shared(depth):
    """Each level has the one below twice: 2^depth paths, 2 depth nodes."""
    found = sympy.sin(x) / 3.7 + 2.5 * y
    for level in range(depth):
        found = sympy.cos(found) * (found + level * z) - sympy.Rational(5, 7) ** level
    return found


def test_it_is_what_sympy_writes_and_replaces():
    e = shared(6)
    table = {x: y + z, z: sympy.Symbol("w")}
    assert replaced(e, table) == e.xreplace(table)
    halves = {n: n / 2 for n in e.atoms(sympy.Float)}
    assert renumbered(e, lambda n: n / 2) == e.xreplace(halves)
    assert renumbered(sympy.Matrix([[e, x]]), lambda n: n / 2) == sympy.Matrix([[e, x]]).xreplace(
        halves
    )
    write = written_once()
    assert [write(e), write(-e * y), write(e**2)] == [str(e), str(-e * y), str(e**2)]
    settings = {"fully_qualified_modules": False}
    assert remembering(PythonCodePrinter)(settings).doprint(e) == PythonCodePrinter(
        settings
    ).doprint(e)


def test_its_work_follows_the_parts_and_not_the_paths():
    e, seen = shared(10), []  # 2^10 paths

    def look(node):
        seen.append(node)

    assert rewritten(e, look, {}) is e
    assert len(seen) == len(set(seen)) < 100
