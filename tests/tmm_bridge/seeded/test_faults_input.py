"""The verdict can fail: one entry of the model wrong for one of the two solvers.

As if one of them had been handed another machine unnoticed: the faulty run
carries the hash of the sound model.  With honest hashes nothing is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest

import vbg.tmm_bridge as bridge
from tests.tail import tail
from tests.tmm_bridge.faults import SETTINGS, Bench, assert_found
from tests.tmm_bridge.machines import BAR, arm, loop
from vbg.validate.compare import compare

# path of the entry, its wrong value, a channel that must be named
ARM_FAULTS: list[tuple[tuple[str, ...], Any, str]] = [
    (("gravity",), [0.3, -0.2, -9.80665], "J1.force"),
    (("bodies", "slider", "mass"), 1.101, "J2.force"),
    (("bodies", "hand", "inertia", "yy"), 0.0212, "hand.angular_velocity"),
    (("bodies", "base", "inertia"), BAR | {"xx": BAR["zz"], "zz": BAR["xx"]}, "J1.torque"),
    (("bodies", "slider", "inertia"), BAR | {"xy": BAR["yz"], "yz": BAR["xy"]}, "J2.torque"),
    (("bodies", "base", "points", "out"), [0.25, -0.02, 0.03], "J2.force"),
    (("bodies", "hand", "points", "tip"), [0.2, 0.1, -0.05], "dash.force"),
    (("bodies", "hand", "angular_velocity"), [1.0, 2.0, 1.5], "hand.angular_velocity"),
    (("joints", "J1", "axis"), [-0.2, -0.9, -0.3], "J1.torque"),
    (("joints", "J2", "axis"), [0.8, 0.1, 0.4], "J2.force"),
    (("joints", "J1", "initial", "speed"), 3.03, "J1.speed"),
    (("joints", "J2", "initial", "slide_speed"), -1.0, "J2.slide_speed"),
    (("joints", "J1", "friction", "viscous"), 0.202, "J1.friction"),
    (("joints", "gear", "ratio"), 1.7, "gear.effort"),
    (("forces", "dash", "c"), 4.04, "dash.force"),
    (("forces", "line", "k"), 151.5, "line.force"),
    (("forces", "coil", "rest"), -0.2, "coil.torque"),
    (("forces", "push", "force"), [2.0, "3*cos(20*t)", -1.0], "push.force"),
    (("forces", "push", "axes"), "world", "push.force"),
    (("forces", "mount", "stiffness"), [90, 80, 70, 2, 3, 4], "mount.force"),
]
LOOP_FAULTS: list[tuple[tuple[str, ...], Any, str]] = [
    (("joints", "J1", "drive"), "2*t + 6.06*t**2", "J1.drive"),
    (("joints", "J1", "drive"), "2.02*t + 6*t**2", "J1.angle"),
    (("joints", "thread", "lead"), -0.05, "thread.force"),
    (("joints", "eye", "axis"), [1, 0.2, -0.1], "eye.force"),
    (("joints", "J2", "axis2"), [-0.1, 0, 1], "J2.torque"),
    (("bodies", "rod", "inertia"), BAR | {"yy": BAR["zz"], "zz": BAR["yy"]}, "J2.torque"),
    (("bodies", "sleeve", "mass"), 0.505, "J6.force"),
]
SIDES = ("vbg", "mstmm")


@pytest.fixture(scope="module")
def benches() -> Mapping[str, Bench]:
    """Both machines, what the sound solvers say of them kept."""
    return {"arm": Bench(arm()), "loop": Bench(loop())}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("path", "value", "channel"), tail(ARM_FAULTS, 10))
def test_wrong_entry_of_a_tree_is_found(benches, side, path, value, channel):
    wrong = benches["arm"].model.edited(path, value)
    assert_found(benches["arm"].judge(side, nullcontext, wrong), channel)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("path", "value", "channel"), LOOP_FAULTS)
def test_wrong_entry_of_a_loop_is_found(benches, side, path, value, channel):
    wrong = benches["loop"].model.edited(path, value)
    assert_found(benches["loop"].judge(side, nullcontext, wrong), channel)


def test_honest_hashes_make_it_inconclusive():
    model = arm()
    first = bridge.simulate(model, **SETTINGS)
    other = bridge.simulate(model.edited(("gravity",), [0, 0, -9.8]), **SETTINGS)
    assert compare(first, other).result == "INCONCLUSIVE"
