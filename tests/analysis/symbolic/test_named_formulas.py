"""Formulas of the model file that choose, turn or vanish: equations in symbols give the numbers of
the machine, of others where they have its names, and tell which names they do not have."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import vbg
from vbg.analysis.symbolic import block_matrices
from vbg.analysis.symbolic.block_matrices import written_matrices
from vbg.analysis.symbolic.loops.code import c, fortran, python
from vbg.analysis.symbolic.loops.code.coding import code_of
from vbg.analysis.symbolic.loops.deriving import minimal_equations
from vbg.analysis.symbolic.named_matrices import named_matrices
from vbg.analysis.symbolic.symbolic import equations_of
from vbg.analysis.symbolic.written import as_c, as_latex, as_python, as_text

pytest.importorskip("sympy")
FORMULAS = {  # of a mass, and the parameters that stay numbers by them
    "max(a, b)": {"a", "b"},
    "min(3*a, c, b + c)": {"a", "b", "c"},
    "c*abs(a - 2*b)": {"a", "b"},
    "if(a > b, a, b + c)": {"a", "b"},
    "chosen(c)*a": {"b", "c"},
    "a*(2 + sin(b))": {"a", "b"},
    "a*b/c + c": set(),
}


def pendulum(formula, given):
    """A hinged body of mass `formula` under gravity along y."""
    return vbg.Model(
        parameters={**given, "L": 0.7, "off": 0.0},
        functions={"chosen": {"arguments": ["x"], "value": "max(x, b) + x"}},
        gravity=[0, -9.81, 0],
        bodies={
            "arm": {
                "mass": formula,
                "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15},
                "points": {"top": ["off", "L", 0]},
            }
        },
        joints={
            "A": {"kind": "revolute", "between": ["ground", "arm.top"], "axis": [0, 0, 1]},
        },
    )


def drawn(seed):
    return dict(zip("abc", np.random.default_rng(seed).uniform(0.5, 2.0, 3).tolist(), strict=True))


def numbers_of(matrices, values):
    """Matrices in symbols at the values of all their symbols, by name."""
    found = []
    for matrix in matrices:
        known = {s: values[str(s)] for s in matrix.free_symbols}
        found.append(np.array(matrix.subs(known).tolist(), dtype=float).ravel())
    return np.concatenate(found)


@pytest.mark.parametrize("formula", FORMULAS)
def test_names_give_the_numbers_of_the_machine_and_of_others(formula):
    import sympy

    model = pendulum(formula, drawn(3))
    named = equations_of(vbg.assemble(model), "minimal")
    loops = minimal_equations(vbg.assemble(model), forces=False)
    told = set(named.numbered.names)
    assert FORMULAS[formula] <= told and "off" in told
    assert set(loops.numbered.names) == told and all(name in as_text(named) for name in told)
    assert "L" in {str(s) for s in named.parameters}
    motion = {"A.angle": 0.4, "A.speed": -1.3, "d_A.speed": 0.7}
    for other in ({}, {"L": 0.9}, {k: 1.7 * v for k, v in drawn(3).items() if k not in told}):
        machine = model.with_parameters(**other)
        known = {**{str(s): v for s, v in named.parameters.items()}, **other, **motion}
        plain = equations_of(vbg.assemble(machine), "minimal", names=False)
        expected = numbers_of([plain.mass, plain.right], motion)
        assert numbers_of([named.mass, named.right], known) == pytest.approx(expected, rel=1e-12)
        found = numbers_of([loops.mass, sympy.Matrix(loops.loads)], known)
        assert found == pytest.approx(expected, rel=1e-12)


def test_every_language_tells_what_stays_a_number(tmp_path):
    """As comments: sentences that compilers and LaTeX pass over."""
    system = vbg.assemble(pendulum("c*max(a, b)", drawn(3)))
    equations = equations_of(system, "minimal")
    (chosen, zero), code = equations.numbered.remarks, code_of(minimal_equations(system))
    assert "a, b (" in chosen and zero.startswith("zero: off")
    for remark in (chosen, zero):
        assert f"# {remark}\n" in f"{as_text(equations)}\n"
        assert f"# {remark}\n" in as_python(equations)
        assert f"/* {remark} */\n" in as_c(equations) and f"/* {remark} */\n" in c.as_c(code)
        assert f"% {remark}\n" in f"{as_latex(equations)}\n"
        assert remark in python.as_python(code)
        assert f"% {remark}\n" in block_matrices.as_latex(written_matrices(system, latex=True))
        assert remark in block_matrices.as_text(written_matrices(system))
        fortran_text = " ".join(line.strip("! ") for line in fortran.as_fortran(code).splitlines())
        assert remark in fortran_text
    assert re.search("% .*L = 0.7", as_latex(equations))
    compile(as_python(equations), "rate.py", "exec")
    if compiler := shutil.which("gcc"):
        (tmp_path / "rate.c").write_text(as_c(equations), encoding="utf-8")
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        subprocess.run([compiler, *flags, str(tmp_path / "rate.c")], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("formula", ["max(a, b)", "c*abs(a - 2*b)"])
def test_matrices_have_the_numbers_of_the_machine(formula):
    model = pendulum(formula, drawn(7))
    named, plain = (named_matrices(vbg.assemble(model), names=n) for n in (True, False))
    assert FORMULAS[formula] <= set(named.numbered.names)
    turned = {f"R_arm[{i},{j}]": 0.3 + i - 0.4 * j for i in range(3) for j in range(3)}
    for name, block in named.matrices.blocks.items():
        symbols = block.values.free_symbols | plain.matrices.blocks[name].values.free_symbols
        values = {str(s): 0.3 + 0.1 * k for k, s in enumerate(sorted(symbols, key=str))}
        values |= turned | named.parameters
        if block.values.rows and block.values.cols:
            expected = numbers_of([plain.matrices.blocks[name].values], values)
            size = 1e-9 * np.abs(expected).max(initial=1e-300)
            assert np.abs(numbers_of([block.values], values) - expected).max() <= size, name


def test_zero_parameters_are_told_where_something_would_follow_from_them():
    model = vbg.Model(
        parameters={"R": 2.0, "C": 0.1, "offset": 0.0, "unused": 0.0},
        electric={
            "U": {"kind": "voltage_source", "nodes": ["p", "gnd"], "voltage": "offset + sin(t)"},
            "R": {"kind": "resistor", "nodes": ["p", "n"], "R": "R"},
            "C": {"kind": "capacitor", "nodes": ["n", "gnd"], "C": "C"},
        },
    )
    found = equations_of(vbg.assemble(model), "auto").numbered
    assert found.names == found.zero == ("offset",)
