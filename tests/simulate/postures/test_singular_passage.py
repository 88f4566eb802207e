"""Through a posture in which the constraint matrix loses rank, on the branch that is smooth."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.anywhere import shaken
from tests.laws.joints.test_faults import four_bar
from tests.tail import only

LENGTH, WIDTH, TILT = 0.8, 1.2, 0.7


def parallelogram(*, redundant: bool, drive: str | None) -> vbg.Model:
    """Equal cranks, one of them driven or both swinging; flat when they lie along the base."""
    up = LENGTH * np.array([np.cos(TILT), 0.0, np.sin(TILT)])
    base = np.array([WIDTH, 0.0, 0.0])
    kinds = {} if redundant else {"B": "universal", "C": "spherical"}
    document = four_bar(kinds, [np.zeros(3), up, up + base, base])
    document["joints"]["A"].pop("initial")
    if drive is None:
        document["joints"]["A"]["initial"] = {"speed": 2.0}
    else:
        document["joints"]["A"]["drive"] = drive
    return vbg.Model(**document)


@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize("drive", only(["2*t", None], ["2*t", "-2*t", None]))
@pytest.mark.parametrize("rtol", only([1e-6], [1e-6, 1e-8, 1e-10]))
def test_a_parallelogram_passes_its_flat_postures(redundant, drive, rtol):
    """The cranks stay parallel: rocker and crank turn alike.  Driven, the force along the links
    has a pole in the flat posture; the motion and the drive's work are smooth."""
    start = vbg.start(parallelogram(redundant=redundant, drive=drive))
    for shaken_start in shaken(start):
        found = vbg.simulate(shaken_start, t_end=3.0, output_step=0.01, rtol=rtol, atol=rtol / 100)
        assert found.status.code == "finished", found.status
        crank, rocker = (found[f"{name}.angular_velocity"][:, 1] for name in ("crank", "rocker"))
        assert_allclose(rocker, crank, atol=1e-3 if rtol > 1e-7 else 2e-5)
        turning = found["coupler.angular_velocity"]
        assert_allclose(turning, 0.0, atol=1e-3 if rtol > 1e-7 else 2e-5)
        assert found.audit.energy_residual < (1e-4 if rtol > 1e-7 else 1e-6)


@pytest.mark.parametrize(("redundant", "rtol"), [(False, 1e-6), (True, 1e-11)])
def test_a_swinging_parallelogram_passes_in_minimal_form(redundant, rtol):
    """At a tolerance that rounding beside the posture exceeds, and at one it does not."""
    start = vbg.start(parallelogram(redundant=redundant, drive=None))
    plan = {"t_end": 0.5, "output_step": 0.02, "rtol": rtol, "atol": rtol / 100}
    for shaken_start in shaken(start):
        found = vbg.simulate(shaken_start, formulation="minimal", **plan)
        assert found.status.code == "finished", found.status
        assert found.audit.energy_residual < max(1e-8, 100 * rtol)
        crank, rocker = (found[f"{name}.angular_velocity"][:, 1] for name in ("crank", "rocker"))
        assert_allclose(rocker, crank, atol=max(1e-8, 100 * rtol))
        assert found.made_by.n_steps < 600
        assert found["crank.position"][-1, 2] < 0.0 < found["crank.position"][0, 2]


def test_the_passage_is_told_with_its_time():
    """A crank driven at 2 rad/s from 0.7 rad lies flat at t = 0.35 s and half a turn later."""
    system = vbg.assemble(parallelogram(redundant=True, drive="2*t"))
    found = vbg.simulate(system, t_end=3.0, output_step=0.01)
    (note,) = [note.what for note in found.notes if "passes a singular posture" in note.what]
    spans = [
        part.removesuffix(" s.").removesuffix(" s") for part in note.split("t = ")[1].split(", ")
    ]
    found_spans = [tuple(float(word) for word in span.split(" ... ")) for span in spans]
    assert len(found_spans) == 2
    for (before, after), flat in zip(found_spans, (0.35, 0.35 + np.pi / 2), strict=True):
        assert before < flat < after < before + 0.1


def test_a_link_with_hardly_any_mass_is_no_singular_posture():
    """Its rows are nearly dependent for ever, in the metric of the masses."""
    corners = [np.array(p) for p in ([0.0, 0, 0], [0.3, 0, 0.8], [1.9, 0, 1.4], [2.2, 0, 0.1])]
    document = four_bar({"B": "universal", "C": "spherical"}, corners)
    document["bodies"]["coupler"] |= {
        "mass": 1e-6,
        "inertia": {"xx": 1e-8, "yy": 1e-8, "zz": 1e-8},
    }
    found = vbg.simulate(vbg.Model(**document), t_end=0.5, output_step=0.05)
    assert found.status.code == "finished" and found.audit.energy_residual < 1e-7
    assert not any("singular" in note.what for note in found.notes)


@pytest.mark.parametrize("link", only(["K4"], ["K1", "K2", "K4", "K6", "K7"]))
def test_inertia_about_axes_that_never_turn_makes_no_posture_singular(link):
    """The squeezer turns about z only; the mass-weighted condition of its rows swings by 1e4 with
    the inertia of a link about another axis, its motion and grip do not."""
    model = vbg.read("examples/andrews-squeezer.toml")

    def motion(yy: float) -> vbg.Solution:
        inertia = {"xx": 5e-7, "yy": yy, "zz": 5e-7}
        return vbg.simulate(model.edited(("bodies", link, "inertia"), inertia), output_step=1e-3)

    plain, light = motion(5e-7), motion(5e-17)
    assert light.status.code == "finished" and not light.audit.failures
    assert not any("singular" in note.what for note in light.notes)
    for body in model.bodies:
        assert_allclose(light[f"{body}.position"], plain[f"{body}.position"], atol=1e-9)
