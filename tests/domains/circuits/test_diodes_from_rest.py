"""Ideal diodes at the far end of ladders that begin at rest: which way a voltage leaves zero there,
as a high power of the time, is less than a long step errs by, and no sign to turn back at."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import vbg
from tests.export.comparing import compiled, table
from tests.tail import tail
from vbg.solution import components
from vbg.tmm_bridge.solver import simulate as second


class Ladder:
    """Of 2 to 4 sections of resistor and capacitor, a diode from its end to the ground or back."""

    def __init__(self, seed: int, shake: int = 0):
        random = np.random.default_rng(seed)

        def within(low: float, high: float) -> float:
            return float(10 ** random.uniform(low, high))

        self.n = int(random.integers(2, 5))
        self.V, R, self.tau = within(-2, 3), within(-2, 4), within(-4, 1)
        self.w = 2 * np.pi / self.tau * within(-0.3, 0.3)
        self.phase = float(random.uniform(0, 3)) if seed % 2 else 0.0
        self.R, self.C = R * 10 ** random.uniform(-1, 1, (2, self.n)) * [[1], [self.tau / R**2]]
        self.forward = bool(random.random() < 0.7)
        self.on, self.off = R * within(-4, -1), 1e-5 / R
        self.V *= 1.0 + 1e-13 * float(np.random.default_rng(shake).uniform(-1, 1)) * (shake > 0)

    def model(self) -> vbg.Model:
        end = f"n{self.n}"
        parts: dict = {
            "s": {
                "kind": "voltage_source",
                "nodes": ["n0", "gnd"],
                "voltage": f"{self.V!r}*sin({self.w!r}*t+{self.phase!r})",
            },
            "D": {
                "kind": "diode",
                "law": "ideal",
                "nodes": [end, "gnd"] if self.forward else ["gnd", end],
                "Ron": self.on,
                "Goff": self.off,
            },
        }
        for k, (R, C) in enumerate(zip(self.R.tolist(), self.C.tolist(), strict=True), 1):
            parts[f"R{k}"] = {"kind": "resistor", "nodes": [f"n{k - 1}", f"n{k}"], "R": R}
            parts[f"C{k}"] = {"kind": "capacitor", "nodes": [f"n{k}", "gnd"], "C": C}
        settings = {"t_end": 2 * self.tau, "output_step": self.tau / 25}
        return vbg.Model(name="ladder", electric=parts, simulate=settings)

    def voltages(self) -> np.ndarray:
        """(n, rows): C dv/dt of every node is what flows in less what flows on."""

        def rate(t: float, v: np.ndarray) -> np.ndarray:
            before = np.concatenate([[self.V * np.sin(self.w * t + self.phase)], v[:-1]])
            inward = (before - v) / self.R
            forward = (v[-1] > 0.0) == self.forward
            onward = np.append(inward[1:], v[-1] * (1.0 / self.on if forward else self.off))
            return (inward - onward) / self.C

        rows = np.linspace(0.0, 2 * self.tau, 51)
        limits = {"rtol": 1e-9, "atol": 1e-12 * self.V, "max_step": self.tau / 100}
        run = solve_ivp(rate, (0, 2 * self.tau), np.zeros(self.n), "Radau", rows, **limits)
        return run.y


def misses(ladder: Ladder, found: dict) -> float:
    """The largest difference of a node's voltage, in that of the source."""
    nodes = [found[f"electric.n{k}.voltage"] for k in range(1, ladder.n + 1)]
    return float(np.abs(np.array(nodes) - ladder.voltages()).max()) / ladder.V


@pytest.mark.parametrize("seed", tail((8, 9, 22, 2, 26, 30, 38, 3), 1))
def test_a_run_begins_whichever_method_makes_it(seed):
    for shake in range(10):
        ladder = Ladder(seed, shake)
        for method in ("dop853", "auto", "radau")[: 3 if shake == 0 else 2]:
            run = vbg.simulate(ladder.model(), method=method)
            assert run.status.code == "finished", run.status.sentence
            assert not run.audit.failures
            assert len(run.audit.events) < 40
            if shake == 0:
                assert misses(ladder, run.signals) < 1e-5


@pytest.mark.parametrize("seed", tail((2, 0, 8, 9), 1))
def test_an_exported_program_begins(seed, tmp_path):
    ladder = Ladder(seed)
    start = vbg.start(vbg.assemble(ladder.model()))
    found = table(compiled(start, tmp_path, "-O1"))
    assert misses(ladder, found) < 1e-5
    own = dict(components(vbg.simulate(start)))
    assert len(found["electric.n1.voltage"]) == len(own["electric.n1.voltage"])


@pytest.mark.parametrize("seed", tail((3, 19, 0, 1, 2, 4), 2))
def test_what_has_no_store_passes_the_zero_of_its_source(seed):
    """Diodes that turn over all at once there: which of them rounding says has no sign."""
    random = np.random.default_rng(seed)
    V, R = (float(10 ** random.uniform(*one)) for one in ((-1, 3), (-1, 3)))
    near = (R * 10 ** random.uniform(-1, 1, 4)).tolist()
    ends = (("a", "b"), ("b", "c"), ("b", "gnd"), ("c", "gnd"))
    diodes = (("b", "c"), ("a", "c"), ("a", "b"))
    parts: dict = {
        f"R{k}": {"kind": "resistor", "nodes": list(nodes), "R": ohm}
        for k, (nodes, ohm) in enumerate(zip(ends, near, strict=True))
    }
    for k, nodes in enumerate(diodes):
        law = {"Ron": float(R * 10 ** random.uniform(-5, -2)), "Goff": 1e-6 / R}
        parts[f"D{k}"] = {"kind": "diode", "law": "ideal", "nodes": list(nodes), **law}
    given = f"{V!r}*sin(1381.4*t + {float(random.uniform(0, 6))!r})"
    parts["s"] = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": given}
    settings = {"t_end": 0.015, "output_step": 3e-4}
    model = vbg.Model(name="diodes", electric=parts, simulate=settings)
    run = second(model, rtol=1e-11, atol=1e-13)
    assert run.status.code == "finished", run.status.sentence
    first = vbg.simulate(model)
    for node in ("b", "c"):
        name = f"electric.{node}.voltage"
        assert np.abs(run[name] - first[name]).max() < 1e-9 * V
