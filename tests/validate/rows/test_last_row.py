"""What changes just on the last row of a run: that row holds what is behind it, in both solvers."""

from __future__ import annotations

import pytest

import vbg
from tests.tail import tail
from vbg.validate import validate

INERTIA, RESISTANCE, CLOSED = 2.0, 1000.0, 1e-5
END = 0.1 + 0.2  # 0.30000000000000004: not the number that 0.3 is


def shaft(kind: str, given: str) -> vbg.Model:
    source = {"kind": kind, "nodes": ["a"], kind: given}
    return vbg.Model(
        rotational={"J": {"kind": "inertia", "nodes": ["a"], "J": INERTIA}, "s": source},
        simulate={"t_end": 0.3, "output_step": 0.05},
    )


@pytest.mark.parametrize("at", tail([0.3, END], 1))
@pytest.mark.parametrize(
    ("kind", "given", "last"),
    [
        ("speed", "max(t - {at!r}, 0)", INERTIA),
        ("speed", "abs(t - {at!r})", INERTIA),
        ("torque", "if(t > {at!r}, 3, 1)", 3.0),
        ("torque", "sign(t - {at!r})", 1.0),
    ],
)
def test_the_last_row_is_behind_a_change_on_it(kind, given, last, at):
    report = validate(shaft(kind, given.format(at=at)), rtol=1e-9, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    for solution in report.solutions.values():
        assert solution["s.torque"][-1] == pytest.approx(last, rel=1e-9)


def test_a_source_that_is_zero_up_to_the_last_row_is_no_contradiction():
    """What rounding of the last instant makes of it is beside J rad / T^2 nothing."""
    report = validate(shaft("torque", "max(t - 0.3, 0)"), rtol=1e-9, in_children=False)
    assert report.result != "FAIL", report.verdict.sentence


@pytest.mark.parametrize("output_step", tail([0.004, 0.001, 0.02], 1))
def test_a_switch_that_closes_has_its_current_in_every_row(output_step):
    """12 V behind a switch of `Ron` that closes right behind t = 0: from conductances of 1e-5 S
    to 1e5 S Newton's first step goes to 1e17 V and back, and is no root."""
    source = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 12.0}
    load = {"kind": "resistor", "nodes": ["b", "gnd"], "R": RESISTANCE}
    switch = {"kind": "switch", "nodes": ["a", "b"], "closed": "sin(20*t)", "Ron": CLOSED}
    model = vbg.Model(
        electric={"V": source, "load": load, "S": switch},
        simulate={"t_end": 0.1, "output_step": output_step},
    )
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    for solution in report.solutions.values():
        assert solution["load.current"][1:] == pytest.approx(12.0 / (RESISTANCE + CLOSED))
