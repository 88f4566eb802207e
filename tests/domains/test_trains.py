"""Torques and forces that gears, belts and screws pass on are signals."""

import numpy as np

import vbg


def test_a_hoist_by_belt_gear_and_screw():
    """Constant torque M on a shaft of inertia J behind gear i, belt k and screw h lifts a mass m
    without weight: J1 a = M - i k h F with F = m i k h a, in closed form."""
    M, J, i, radii, h, m = 2.0, 0.01, 0.5, (0.02, 0.05), 0.003, 40.0
    k = radii[0] / radii[1]
    model = vbg.Model(
        vbg=1,
        rotational={
            "motor": {"kind": "torque", "nodes": ["a"], "torque": M},
            "rotor": {"kind": "inertia", "nodes": ["a"], "J": J},
            "gear": {"kind": "gear", "nodes": ["a", "b"], "ratio": i},
            "belt": {"kind": "belt", "nodes": ["b", "c"], "radius1": radii[0], "radius2": radii[1]},
        },
        translational={
            "load": {"kind": "mass", "nodes": ["s"], "m": m},
            "screw": {
                "kind": "ball_screw",
                "shaft": "rotational.c",
                "slide": "translational.s",
                "lead": h,
            },
        },
        simulate={"t_end": 0.1, "output_step": 0.01},
    )
    solution = vbg.simulate(model)
    travel = i * k * h
    thrust = m * travel * M / (J + m * travel**2)
    expected = {
        "screw.thrust": thrust,
        "screw.shaft_torque": h * thrust,
        "belt.torque2": h * thrust,
        "belt.torque1": k * h * thrust,
        "gear.torque2": k * h * thrust,
        "gear.torque1": i * k * h * thrust,
    }
    for name, value in expected.items():
        np.testing.assert_allclose(np.ravel(solution[name]), value, rtol=1e-9, err_msg=name)
