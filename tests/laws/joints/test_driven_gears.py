"""What gears tie to a driven joint is driven, too: the drive supplies its energy."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.tmm_bridge import simulate as second


@pytest.mark.parametrize("solve", [vbg.simulate, second])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
@pytest.mark.parametrize("seed", tail(range(6), 2))
def test_the_drive_supplies_what_rotors_behind_gears_take(solve, kind, seed):
    """A joint with the inertia I at q' = u + a t, a rotor I1 and a damper c at r1 q' behind a gear,
    and another joint I2 at r2 q' with a rotor I3 at r3 r2 q':

        supplied = (I + r1^2 I1 + r2^2 (I2 + r3^2 I3)) (q'^2 - u^2) / 2 + c r1^2 int q'^2 dt."""
    draw = np.random.default_rng(seed)
    L, M, T = (10.0 ** draw.uniform(-3, 3, 3)).tolist()
    slides, turns = kind == "prismatic", kind != "prismatic"
    size = L if slides else 1.0  # of the coordinate
    inertia = M if slides else M * L**2
    m, m2 = (M * draw.uniform(0.5, 2.0, 2)).tolist()
    J, J2 = (M * L**2 * draw.uniform(0.5, 2.0, 2)).tolist()
    I1, I3 = (inertia * draw.uniform(0.5, 2.0, 2)).tolist()
    r1, r2, r3 = (draw.uniform(0.5, 3.0, 3) * draw.choice([-1, 1], 3)).tolist()
    c = draw.uniform(0.1, 1.0) * inertia / T
    u, a = draw.uniform(0.2, 1.0) * size / T, draw.uniform(0.5, 2.0) * size / T**2
    lead = draw.uniform(0.5, 2.0) * L
    table, rotor, key = ("translational", "mass", "m") if slides else ("rotational", "inertia", "J")
    other = {"kind": "prismatic" if slides else "revolute", "axis": [0, 0, 1]}
    along = {"lead": lead} if kind == "helical" else {}
    parts = {
        "damper": {"kind": "damper", "nodes": ["s"], "c": c},
        "rotor1": {"kind": rotor, "nodes": ["s"], key: I1},
        "rotor3": {"kind": rotor, "nodes": ["w"], key: I3},
    }
    joints = {
        "A": {
            "kind": kind,
            "axis": [0, 0, 1],
            "between": ["ground", "a"],
            "drive": f"{u!r}*t + {0.5 * a!r}*t^2",
            **along,
        },
        "B": {**other, "between": ["ground", "b"]},
        "g2": {"kind": "gear", "between": ["joints.A", "joints.B"], "ratio": r2},
    }
    if turns:
        parts["g1"] = {"kind": "gear", "nodes": ["joint:A", "s"], "ratio": r1}
        parts["g3"] = {"kind": "gear", "nodes": ["joint:B", "w"], "ratio": r3}
    else:  # without gears between sliders
        r1 = r3 = 1.0
        for name in ("damper", "rotor1"):
            parts[name]["nodes"] = ["joint:A"]
        parts["rotor3"]["nodes"] = ["joint:B"]
    bodies = {
        name: {"mass": mass, "inertia": dict.fromkeys(("xx", "yy", "zz"), moment)}
        for name, mass, moment in (("a", m, J), ("b", m2, J2))
    }
    settings = {"t_end": T, "output_step": 0.1 * T, "rtol": 1e-9}
    model = vbg.Model(
        name="geared",
        gravity=[0, 0, 0],
        bodies=bodies,
        joints=joints,
        simulate=settings,
        **{table: parts},
    )
    run = solve(model)
    assert run.status.code == "finished", run.status.sentence
    assert not run.audit.failures
    own, behind = (m, m2) if slides else (J + (m * lead**2 if along else 0.0), J2)
    total = own + r1**2 * I1 + r2**2 * (behind + r3**2 * I3)
    v = u + a * T
    lost = c * r1**2 * (v**3 - u**3) / (3.0 * a)
    supplied = 0.5 * total * (v**2 - u**2) + lost
    assert run["energy.supplied"][-1] == pytest.approx(supplied, rel=1e-7)
    assert run["energy.dissipated"][-1] == pytest.approx(lost, rel=1e-7)
