"""A motor that drives a pump through a gear turns steadily, and is found to: the content of the
volume behind the pump is a state of its own, although a shaft's angle has its twin at the gear."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import lu_solve, matrix, mpf, workdps

import vbg
from tests.tail import only
from vbg.analysis.linear.linear import linearise
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import contents, displacement_ties
from vbg.analysis.rest.operating import operating_point

RIGHT = 1e-7  # of what is 1 A, 1 rad/s, 1 bar, or of the value


def machine(rng):
    """24 V or so on a motor, a gear up to 100 either way, a pump in a volume with a leak; its
    steady current, speed and pressure with forty digits."""
    V, R, L, K = (10.0 ** rng.uniform([0, -2, -5, -3], [3, 2, -1, 1])).tolist()
    J, B, J2 = (10.0 ** rng.uniform([-6, -7, -6], [1, 1, 1])).tolist()
    D, leak, G, volume = (10.0 ** rng.uniform([-8, -14, -14, -5], [-4, -10, -10, -1])).tolist()
    ratio = float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-2, 2))
    drive = {"kind": "dc_motor", "nodes": ["a", "gnd"], "on": "rotational.x"}
    model = vbg.Model(
        electric={
            "s": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": V},
            "M": drive | {"R": R, "L": L, "K": K, "J": J, "B": B},
        },
        rotational={
            "g": {"kind": "gear", "nodes": ["x", "y"], "ratio": ratio},
            "J2": {"kind": "inertia", "nodes": ["y"], "J": J2},
        },
        hydraulic={
            "P": {
                "kind": "pump",
                "nodes": ["tank", "p"],
                "on": "rotational.y",
                "displacement": D,
                "leakage": leak,
            },
            "v": {"kind": "volume", "nodes": ["p"], "volume": volume, "air": 0.0},
            "l": {"kind": "laminar_resistance", "nodes": ["p", "tank"], "conductance": G},
        },
    )
    with workdps(40):
        r, D = mpf(ratio), mpf(D)
        rows = [[R, K, 0], [K, -mpf(B), -r * D], [0, D * r, -(mpf(G) + leak)]]
        values = lu_solve(matrix(rows), matrix([V, 0, 0]))
        current, speed, pressure = (float(value) for value in values)
    content = (volume * pressure / 1.4e9, volume * 1e5 / 1.4e9)
    rotor = ("M.rotor.momentum", J * speed, J), ("M.flux", L * current, L)
    return model, (*rotor, ("v.content", *content))


@pytest.mark.parametrize("seed", only([*range(8), 39, 66], range(80)))
def test_it_is_found_to_turn_steadily(seed):
    model, right = machine(np.random.default_rng(seed))
    system = vbg.assemble(model)
    point = operating_point(system, "steady")
    assert point.kind == "steady motion", point.sentence
    found = {s.state.name: point.x[s.first] for s in system.slices}
    for name, value, unit in right:
        assert found[name] == pytest.approx(value, rel=RIGHT, abs=RIGHT * unit), name
    poles = linearise(system, point, inputs=[]).eigenvalues
    assert len(poles) == 4  # its angle, speed, current and pressure


@pytest.mark.parametrize("seed", range(12))
def test_ties_of_angles_name_no_content(seed):
    model, _ = machine(np.random.default_rng(seed))
    system = vbg.assemble(model)
    probe = Probe(system)
    for at in (probe.start.state, probe.start.state + 1e-6):
        ties = displacement_ties(probe, probe.jacobian(0.0, at), at)
        assert len(ties) == 1  # the gear's
        assert not ties[:, contents(system)].any()
