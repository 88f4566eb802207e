"""Files on which vbg once erred without a word, with the right answer; further ones stand with
what they are about (tests/data/rests, starts; tests/io/mstmmsim; tests/tmm_bridge/reproduced;
tests/validate/machines)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.io.toml import parse
from vbg.model.check import check
from vbg.tmm_bridge.solver import simulate as second_solver

FILES = Path(__file__).parent / "data/reproduced"


@pytest.mark.parametrize("mass", [1e-6, 1e-7])
def test_a_light_coupler_in_a_redundant_four_bar(mass):
    """Its forces are those of the determinate twin: B a ball, C a cylindrical joint."""
    redundant = parse((FILES / "light.toml").read_text().replace("m = 1e-7", f"m = {mass}"))
    document = {k: v for k, v in redundant.document.items() if k != "vbg"}
    joints = {name: dict(joint) for name, joint in document["joints"].items()}
    joints["B"] = {k: v for k, v in joints["B"].items() if k != "axis"} | {"kind": "spherical"}
    joints["C"]["kind"] = "cylindrical"
    twin = vbg.Model(**document | {"joints": joints})
    plan = {"t_end": 0.2, "output_step": 0.05, "rtol": 1e-10, "atol": 1e-12}
    right = vbg.simulate(twin, **plan)
    for shake in range(3):
        moved = {**redundant.document["joints"]["A"]["initial"], "speed": 1.0 + 1e-13 * shake}
        joints = {**document["joints"], "A": {**document["joints"]["A"], "initial": moved}}
        found = vbg.simulate(vbg.Model(**document | {"joints": joints}), **plan)
        assert found.status.code == "finished" and not found.audit.failures
        for joint in "ABCD":
            scale = np.abs(right["A.force"]).max()
            in_plane = [0, 2]
            assert_allclose(
                found[f"{joint}.force"][:, in_plane],
                right[f"{joint}.force"][:, in_plane],
                rtol=0,
                atol=1e-7 * scale,
            )


@pytest.mark.parametrize("method", ["auto", "dop853", "radau"])
def test_a_picofarad_rings_as_its_closed_form(method):
    """1 V into R, L, C at default tolerances: damping ratio 1/2, peak 1.163 V."""
    found = vbg.simulate(vbg.read(FILES / "rc.toml"), method=method)
    w, ratio, t = 1e9, 0.5, found.time
    damped = w * np.sqrt(1.0 - ratio**2)
    ringing = np.cos(damped * t) + ratio * w / damped * np.sin(damped * t)
    assert_allclose(found["C.voltage"], 1.0 - np.exp(-ratio * w * t) * ringing, atol=1e-4)
    assert found["C.voltage"].max() == pytest.approx(1.163, abs=1e-3)


def test_an_amplifier_without_its_supply_has_values():
    """The source hangs on a node of its own; runs once held NaN, then ended there."""
    model, plan = vbg.read(FILES / "nan100.toml"), {"t_end": 0.2, "output_step": 1e-3}
    first, second = vbg.simulate(model, **plan), second_solver(model, **plan)
    assert first.status.code == second.status.code == "finished"
    for name in (f"electric.n{k}.voltage" for k in range(1, 9)):
        assert_allclose(first[name], second[name], rtol=0, atol=1e-6)


def test_a_node_that_a_bond_ends_on_is_not_lonely():
    assert not check(vbg.read(FILES / "bondnode.toml"))


@pytest.mark.parametrize("shake", range(3))
def test_a_redundant_machine_of_ordinary_masses(shake):
    """Condition 2.8e3: accelerations as the second solver has them."""
    moved = dict(parse((FILES / "mechanism-200177.toml").read_text()).document)
    gravity = [*moved["gravity"]]
    gravity[0] *= 1.0 + 1e-13 * shake
    model = vbg.Model(**{k: v for k, v in moved.items() if k != "vbg"} | {"gravity": gravity})
    plan = {"t_end": 1e-6, "output_step": 1e-6}
    first, second = vbg.simulate(model, **plan), second_solver(model, **plan)
    found, right = (
        [s[f"{body}.acceleration"][0] for body in model.bodies] for s in (first, second)
    )
    assert_allclose(found, right, rtol=0, atol=1e-9 * np.abs(right).max())
