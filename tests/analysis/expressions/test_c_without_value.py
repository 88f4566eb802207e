"""Expressions in C and Fortran have no value where numpy's have none: NaN is not compared away."""

from __future__ import annotations

import itertools
import shutil
import subprocess

import numpy as np
import pytest
import sympy

from vbg.analysis.symbolic.rewriting.printing import PROCEDURES, c_code, fortran_code, helpers
from vbg.blocks.scalars import SCALARS

x, y, z = sympy.symbols("x y z", real=True)
LAWS = {
    "max": (sympy.Max(x, y), lambda x, y, z: SCALARS["max"](x, y)),
    "min": (sympy.Min(x, y, evaluate=False), lambda x, y, z: SCALARS["min"](x, y)),
    "sign": (sympy.sign(x), lambda x, y, z: SCALARS["sign"](x)),
    "select": (
        sympy.Piecewise((y, x > 0), (z, True)), lambda x, y, z: SCALARS["select"](x, y, z)
    ),
    "nested": (
        sympy.Piecewise((sympy.Max(y, z), x > 0), (z, y > 0), (sympy.sign(z), True)),
        lambda x, y, z: SCALARS["select"](
            x, SCALARS["max"](y, z), SCALARS["select"](y, z, SCALARS["sign"](z))
        ),
    ),
    "within": (
        2 * sympy.Max(x, sympy.Min(y, z, evaluate=False), evaluate=False) - 1,
        lambda x, y, z: 2 * SCALARS["max"](x, SCALARS["min"](y, z)) - 1,
    ),
}  # fmt: skip
VALUES = (float("nan"), float("-inf"), -1.5, 0.0, 2.0, float("inf"))


def test_what_has_no_value_in_numpy_has_none_in_c(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no cc")
    texts = [c_code(law) for law, _ in LAWS.values()]
    body = "".join(f'printf("%.17g\\n", (double)({text}));' for text in texts)
    lines = [
        "#include <math.h>", "#include <stdio.h>", "#include <stdlib.h>", *helpers(body),
        "int main(void) { double x, y, z;",
        'while (scanf("%lf %lf %lf", &x, &y, &z) == 3) {', body, "} return 0; }",
    ]  # fmt: skip
    (tmp_path / "laws.c").write_text("\n".join(lines), encoding="utf-8")
    flags = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror")
    subprocess.run([compiler, *flags, "laws.c", "-o", "laws", "-lm"], cwd=tmp_path, check=True)
    assert_as_numpy(tmp_path)


def test_nor_in_fortran(tmp_path):
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("no gfortran")
    lines = [
        "module laws", "implicit none", "integer, parameter :: dp = kind(1.0d0)", "contains",
        PROCEDURES, "end module", "program main", "use laws", "real(dp) :: x, y, z",
        "integer :: told", "do", "read (*, *, iostat=told) x, y, z", "if (told /= 0) exit",
        *(f'print "(es25.16e3)", {fortran_code(law)}' for law, _ in LAWS.values()),
        "end do", "end program",
    ]  # fmt: skip
    (tmp_path / "laws.f90").write_text("\n".join(lines), encoding="utf-8")
    flags = ("-std=f2008", "-O2", "-Werror")
    subprocess.run([compiler, *flags, "laws.f90", "-o", "laws"], cwd=tmp_path, check=True)
    assert_as_numpy(tmp_path)


def assert_as_numpy(folder):
    """What the program `laws` tells of all LAWS at all triples of VALUES."""
    points = list(itertools.product(VALUES, repeat=3))
    given = "\n".join(" ".join(map(str, point)) for point in points)
    run = [str(folder / "laws")]
    told = subprocess.run(run, input=given, capture_output=True, text=True, check=True)
    found = np.array(told.stdout.split(), float).reshape(len(points), len(LAWS))
    with np.errstate(invalid="ignore"):
        expected = [[float(law(*point)) for _, law in LAWS.values()] for point in points]
    np.testing.assert_array_equal(found, expected)
