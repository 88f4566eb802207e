"""Slopes of every scalar function, by complex steps as small as those of Jacobians: they are the
differences of its values, on both sides of zero, compiled and by numpy."""

from __future__ import annotations

import numpy as np
import pytest

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.blocks import Block, call, const, leaf

STEP = 1e-40  # that of `vbg.analysis.probe.probe`
EXPONENTS = (-6.0, -5.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0)
BROKEN = (-2.5, -0.5, 0.25, 0.5, 1.5, 3.7)
POINTS = (-40.0, -2.3, -0.7, -1e-3, 1e-3, 0.7, 2.3, 40.0)
INSIDE = ("asin", "acos")  # of one in size
ABOVE = ("sqrt", "log")  # zero
OF_ONE = ("sin", "cos", "tan", "atan", "exp", "abs", "reciprocal", *INSIDE, *ABOVE)


def formulas(x: Block) -> dict[str, tuple[Block, float, float]]:
    """What is formed of x, and between which x."""
    near = dict.fromkeys(INSIDE, (-0.9, 0.9)) | dict.fromkeys(ABOVE, (1e-9, np.inf))
    made = {name: (call(name, x), *near.get(name, (-np.inf, np.inf))) for name in OF_ONE}
    one = const(1.0)
    for b in EXPONENTS:
        made[f"x^{b:g}"] = (call("power", x, const(b)), -np.inf, np.inf)
        made[f"(x - 1)^{b:g}"] = (call("power", x - one, const(b)), -np.inf, np.inf)
    for b in BROKEN:
        made[f"x^{b:g}"] = (call("power", x, const(b)), 1e-9, np.inf)
        even = call("power", call("power", x, const(4.0)), const(b))
        made[f"(x^4)^{b:g}"] = (even, -np.inf, np.inf)
    made["2^x"] = (call("power", const(2.0), x), -np.inf, 30.0)
    made["x^x"] = (call("power", x, x), 1e-9, 30.0)
    made["atan2(x, -2)"] = (call("atan2", x, const(-2.0)), -np.inf, np.inf)
    made["min(x^5, x)"] = (call("min", call("power", x, const(5.0)), x), -np.inf, np.inf)
    return made


@pytest.mark.parametrize("reader", ["compiled", "numpy"])
def test_slopes_of_complex_steps_are_differences_of_values(reader):
    x = leaf("x", 1)
    made = formulas(x)
    outputs = {name: block for name, (block, _, _) in made.items()}
    program = lower(outputs, {"x": x, "t": leaf("t", 1)})
    steps = Evaluator(program, complex_valued=True)

    def found(at: complex) -> dict[str, complex]:
        if reader == "compiled":
            steps(0.0, np.array([at]))
            return {name: complex(steps.output(name)[0]) for name in made}
        work = program.workspace.astype(complex)
        work[:1] = at
        evaluate(program, work, steps.kept)
        return {name: complex(work[first]) for name, (first, _, _) in program.outputs.items()}

    for point in POINTS:
        h = 1e-6 * abs(point)
        slopes, below, above = found(point + 1j * STEP), found(point - h), found(point + h)
        for name, (_, least, most) in made.items():
            if least < point < most:
                difference = (above[name].real - below[name].real) / (2.0 * h)
                size = abs(difference) + abs(above[name].real / point) * 1e-3
                assert slopes[name].imag / STEP == pytest.approx(difference, abs=1e-6 * size), (
                    name,
                    point,
                )
