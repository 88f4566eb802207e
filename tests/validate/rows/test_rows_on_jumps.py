"""Laws that jump at an instant and bend with the motion: a row on the jump holds what is behind it,
in both solvers, and so does what samples it there."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.expressions import evaluate, parse
from vbg.validate import validate

# A is the instant, m a motion that stays within -10 and 10, u a step at A
COMPARED = (
    *("t > A", "t >= A", "A > t", "t <= A", "2*t >= 2*A", "if(A < t, 1, 0) > 0.5"),
    *("min(t - A, m + 10) > 0", "max(A, m - 10) < t", "(t - A)*(m + 10) > 0", "-t < 0*m - A"),
)
CHOSEN = (
    *("if({C}, {F}, {G})", "min(if({C}, {F}, {G}), m + 10)", "{F}*sign(t - A)"),
    "if({C}, if(t > A, {F}, {G}), if(m > -10, {G}, {F}))",
)
BY_STEP = "{G}*(if(m > 10, 1, u) + {F})"
LAWS = 8


def jumping(random: np.random.Generator, among: tuple[str, ...]) -> str:
    F, G = random.uniform(0.1, 1.0), random.uniform(-1.0, -0.1)
    chosen = str(random.choice(among)).format(C=random.choice(COMPARED), F=F, G=G)
    return f"cos(m) + (2 + m)*({chosen})"


@pytest.mark.parametrize("seed", tail(range(12), 2))
def test_a_row_on_a_jump_of_what_reads_the_motion_is_behind_it(seed):
    """A clock and a step mark the instant in every second model, the laws alone in the others."""
    random, marked = np.random.default_rng(seed), seed % 2 == 1
    at = float(10.0 ** random.uniform(-3, 3))
    among = (*CHOSEN, BY_STEP) if marked else CHOSEN
    texts = {f"T{i}": jumping(random, among) for i in range(LAWS if marked else 1)}
    torques = {
        name: {"kind": "torque", "nodes": ["s"], "torque": text} for name, text in texts.items()
    }
    signals = {"m": {"kind": "expression", "expression": "rotational.s.angle"}}
    if marked:
        signals["u"] = {"kind": "step", "start": at, "height": 1.0}
        held = {"kind": "sample_and_hold", "input": texts["T0"], "start": at, "period": at}
        signals["held"] = held
    model = vbg.Model(
        parameters={"A": at},
        signals=signals,
        rotational={"J": {"kind": "inertia", "nodes": ["s"], "J": 100.0 * at * at}, **torques},
        simulate={"t_end": 2.0 * at, "output_step": at / 7.0},
    )
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    for solution in report.solutions.values():
        known = {"A": at, "u": 1.0, "m": solution["m"][7], "t": at * (1.0 + 1e-12)}
        expected = {name: evaluate(parse(text), known) for name, text in texts.items()}
        found = {name: solution[f"{name}.torque"][7] for name in texts}
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if marked:
            assert solution["held"][7] == pytest.approx(expected["T0"], rel=1e-9, abs=1e-9)
