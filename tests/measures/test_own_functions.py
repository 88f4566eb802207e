"""Measures that call the functions of a file."""

import numpy as np
import pytest

import vbg
from vbg.errors import ModelError, UsageError
from vbg.io import toml
from vbg.measures import evaluate, measured, parse

TEXT = """vbg = 1
[parameters]
R = "2 ohm"
[functions.loss]
arguments = ["i"]
value = "R*i^2"
unit = "mW"
[functions.larger]
arguments = ["a", "b"]
value = "if(a > b, a, max(b, 0))"
[electric.u]
kind = "voltage_source"
nodes = ["a", "gnd"]
voltage = "10*sin(3*t)"
[electric.r]
kind = "resistor"
nodes = ["a", "gnd"]
R = "R"
[simulate]
t_end = 1.0
output_step = 0.01
[measures]
lost = "MEASURE"
"""


def run(measure):
    model = toml.parse(TEXT.replace("MEASURE", measure), "lamp.toml")
    solution = vbg.simulate(model)
    found = measured("lost", model.measures["lost"], solution, model.parameters, model.functions)
    return model, solution, found


def test_a_function_counts_row_by_row_in_its_unit():
    model, solution, found = run("integral(loss(r.current))")
    i = 5.0 * np.sin(3.0 * solution.time)
    lost = np.trapezoid(2e-3 * i**2, solution.time)  # R i^2 of the formula is in mW
    assert found.value == pytest.approx(lost, rel=1e-12)
    hotter = model.with_parameters(R=4.0)
    found = evaluate(
        parse("loss(2)*final(r.current)/final(r.current)", hotter.functions),
        solution,
        hotter.parameters,
        hotter.functions,
    )
    assert found == pytest.approx(16e-3, rel=1e-12)


def test_branches_and_functions_of_two_courses():
    _, solution, found = run("mean(larger(r.current, u.voltage/4 + 1))")
    u = solution["u.voltage"]
    larger = np.maximum(np.maximum(solution["r.current"], u / 4 + 1), 0.0)
    mean = np.trapezoid(larger, solution.time) / solution.time[-1]
    assert found.value == pytest.approx(mean, rel=1e-12)


def test_what_is_called_wrongly_is_told():
    with pytest.raises(ModelError, match=r"loss.. takes 1 argument, found 2"):
        run("max(loss(r.current, 2))")
    with pytest.raises(ModelError, match=r"no function .gain.; .*, loss, larger"):
        run("max(gain(r.current))")
    model, solution, _ = run("max(r.current)")
    windows = parse("max(larger(over(r.current, 0, 0.5), r.current))", model.functions)
    with pytest.raises(UsageError, match="over different windows"):
        evaluate(windows, solution, model.parameters, model.functions)
