"""Starts do not know in which unit of length a machine is written; both solvers."""

from __future__ import annotations

import math

import pytest

import vbg
from vbg.model import Model
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start

SIZES = [1e-6, 1e-3, 1.0, 1e3]
CRANK, BAR = 0.3, 0.7


def slotted(size: float, angle: float, **speeds: float) -> Model:
    """A crank whose tip runs along a line of a bar that a ball holds; `size` times one metre.  The
    crank begins at `angle`, the bar is written along x: the slot is open."""
    inertia = dict.fromkeys(("xx", "yy", "zz"), 0.1 * size**2)
    slot = {"speed": speeds["slot"] * size} if "slot" in speeds else {}
    return Model(
        name="slotted bar",
        gravity=[0, -9.81 * size, 0],
        bodies={
            "crank": {
                "mass": 1,
                "inertia": inertia,
                "rotation": {"axis": [0, 0, 1], "angle": angle},
            },
            "bar": {"mass": 1, "inertia": inertia, "position": [-BAR * size, 0, 0]},
        },
        joints={
            "hub": {
                "kind": "revolute",
                "between": ["ground", "crank"],
                "axis": [0, 0, 1],
                "initial": {"angle": angle, "speed": speeds["hub"]},
            },
            "foot": {
                "kind": "spherical",
                "between": [{"body": "ground", "at": [-BAR * size, 0, 0]}, "bar"],
            },
            "slot": {
                "kind": "point_on_line",
                "between": ["bar", {"body": "crank", "at": [CRANK * size, 0, 0]}],
                "axis": [1, 0, 0],
                "initial": slot,
            },
        },
    )


def slide_at(angle: float) -> tuple[float, float]:
    """Of the tip along the bar, and its slope: s^2 = C^2 + B^2 + 2 C B cos(angle)."""
    s = math.sqrt(CRANK**2 + BAR**2 + 2.0 * CRANK * BAR * math.cos(angle))
    return s, -CRANK * BAR * math.sin(angle) / s


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("angle", [0.2, 2.6])
def test_a_slot_closes_alike_in_every_size(size, angle):
    mechanism = lay_out(slotted(size, angle, hub=1.3))
    begun = start(mechanism)
    tail = mechanism.tables.coordinates[mechanism.coordinates["slot", "slide"], 2]
    assert begun.y[tail] == pytest.approx(slide_at(angle)[0] * size, rel=1e-11)
    assert begun.position_residual <= 1e-11 * size
    assert begun.velocity_residual <= 1e-11 * size


@pytest.mark.parametrize("size", SIZES)
def test_speeds_contradict_each_other_in_every_size(size):
    """Then none is held: the crank's motion is nearest to what is written."""
    rate = 1.3 * slide_at(0.2)[1]
    for share, let_go in ((1.0 + 1e-10, False), (1.001, True), (3.0, True)):
        mechanism = lay_out(slotted(size, 0.2, hub=1.3, slot=rate * share))
        begun = start(mechanism)
        assert begun.let_go == let_go
        place = mechanism.tables.coordinates[mechanism.coordinates["hub", "angle"], 3]
        speed = begun.y[mechanism.tables.sizes[0] + place]
        assert (abs(speed - 1.3) < 1e-9) != let_go
        assert begun.velocity_residual <= (1e-11 if let_go else 1e-9) * size


@pytest.mark.parametrize("size", SIZES)
def test_the_bond_graph_tells_a_speed_that_is_not_kept_in_every_size(size):
    rate = 1.3 * slide_at(0.2)[1]
    for share, kept in ((1.0 + 1e-12, True), (1.001, False)):
        begun = vbg.start(slotted(size, 0.2, hub=1.3, slot=rate * share))
        said = [str(note) for note in begun.notes if "start speeds could be kept" in str(note)]
        assert (not said) == kept
        speed = begun.outputs(0.0, begun.state)["hub.speed"][0]
        assert (abs(speed - 1.3) < 1e-9) == kept
