"""The start is part of the verdict: faults in it, seeded under the real `validate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.assemble.start import start as first_start
from vbg.assemble.system import System
from vbg.io import toml
from vbg.model.samples import machine
from vbg.tmm_bridge.mechanism import start as second_start
from vbg.validate import validate

TOP = Path(__file__).parents[3] / "examples" / "heavy-top.toml"
FACTORS = [0.0, 2.0, -1.0, 1.0 + 1e-5]
SHORT = {"t_end": 0.02, "output_step": 0.005, "rtol": 1e-9, "atol": 1e-11}


def top() -> vbg.Model:
    return vbg.read(TOP)


def loop(**crank: object) -> vbg.Model:
    """A four-bar linkage whose written posture does not close, with a spin on its crank."""
    inertia = {"xx": 0.01, "yy": 0.02, "zz": 0.02}

    def bar(length: float, **more: object) -> dict:
        half = length / 2
        ends = {"A": [-half, 0, 0], "B": [half, 0, 0]}
        return {"mass": 1.0, "inertia": inertia, "points": ends, **more}

    hinge = {"kind": "revolute", "axis": [0, 1, 0]}
    start = {"angle": -0.9, **crank}
    return vbg.Model(
        name="four-bar",
        bodies={"crank": bar(0.4), "coupler": bar(1.0), "rocker": bar(0.8)},
        joints={
            "A": {**hinge, "between": ["ground", "crank.A"], "initial": start},
            "B": {**hinge, "between": ["crank.B", "coupler.A"], "initial": {"angle": 0.6}},
            "C": {**hinge, "between": ["coupler.B", "rocker.A"]},
            "D": {"kind": "spherical", "between": [
                {"body": "ground", "at": [1.0, 0, 0]}, "rocker.B"]},
        },
    )  # fmt: skip


def scaled_first(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """The bond-graph solver starts with its momenta times `factor`."""
    sound = System.__dict__["written_state"].func

    def faulty(self: System) -> np.ndarray:
        x = sound(self).copy()
        for place in self.slices:
            if place.state.kind == "store":
                x[place.first : place.last] *= factor
        return x

    monkeypatch.setattr(System, "written_state", property(faulty))


def scaled_second(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """The transfer-matrix solver starts with its speeds times `factor`."""
    sound = second_start._close_speeds

    def faulty(mechanism, y, *others):
        left = sound(mechanism, y, *others)
        n_q, n_v = int(mechanism.tables.sizes[0]), int(mechanism.tables.sizes[1])
        y[n_q : n_q + n_v] *= factor
        return left

    monkeypatch.setattr(second_start, "_close_speeds", faulty)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("fault", [scaled_first, scaled_second])
def test_a_top_that_starts_with_another_momentum_fails(monkeypatch, fault, factor):
    fault(monkeypatch, factor)
    report = validate(top(), in_children=False, **SHORT)
    assert report.result == "FAIL", report.verdict.sentence
    assert "starts differ" in report.verdict.sentence
    assert "top." in report.verdict.sentence


def test_the_sound_top_passes_and_compares_energies():
    report = validate(top(), in_children=False, **SHORT)
    assert report.result == "PASS", report.verdict.sentence
    assert {c.result for c in report.channels if c.name == "energy.kinetic"} == {"PASS"}
    assert not any("started again" in note for note in report.verdict.notes)


def test_a_posture_that_does_not_close_may_be_assembled_in_two_ways():
    report = validate(loop(), in_children=False, **SHORT)
    assert report.result == "PASS", (report.verdict.sentence, report.verdict.notes)


@pytest.mark.parametrize("fault", [scaled_first, scaled_second])
@pytest.mark.parametrize("factor", [0.0, 2.0])
def test_within_an_assembled_posture_speeds_are_not_free(monkeypatch, fault, factor):
    fault(monkeypatch, factor)
    spun = loop()
    document = {**spun.document, "bodies": {
        name: {**dict(body), "angular_velocity": [0.0, 3.0, 0.0]}
        for name, body in spun.document["bodies"].items()
    }}  # fmt: skip
    report = validate(vbg.Model(**document), in_children=False, **SHORT)
    assert report.result == "FAIL", (report.verdict.sentence, report.verdict.notes)


def test_a_written_speed_that_one_solver_leaves_is_no_choice_of_the_assembly(monkeypatch):
    """Of two meshing wheels one speed is written.  Changing both least, in kinetic energy, would
    start the larger with J_1 / (J_1 + n^2 J_2) = 16 / 20 of it: in balance, but not as written."""
    gear = toml.parse(machine("joints", "gear"), "")
    monkeypatch.setattr(first_start, "with_held_speeds", lambda projector, held, x, sizes: x)
    report = validate(gear, in_children=False, **SHORT)
    assert report.result == "FAIL", report.verdict.sentence
    assert "the file writes axle.speed = 6.28319 rad/s" in report.verdict.sentence
