"""Paths in the terminal's 3D: of mass centres, points, frames and joints."""

import numpy as np
from numpy.testing import assert_allclose

import vbg
from vbg.tui.state.motion import motion_of, scene_of, traceable

ROUND = {"xx": 0.1, "yy": 0.1, "zz": 0.1}


def test_the_path_of_whatever_is_marked_ends_where_it_is():
    """A rod turns about y: each path is a circle about the pin as far as its place is from it."""
    model = vbg.Model(
        name="rod",
        bodies={
            "rod": {
                "mass": 1.0,
                "inertia": ROUND,
                "points": {"A": [-0.4, 0, 0], "B": [0.3, 0, 0.2]},
            }
        },
        frames={"tool": {"on": "rod.B", "position": [0.1, 0, 0]}},
        joints={
            "pin": {
                "kind": "revolute",
                "between": ["ground", "rod.A"],
                "axis": [0, 1, 0],
                "initial": {"speed": 3.0},
            }
        },
    )
    run = vbg.simulate(model, t_end=0.5, output_step=0.01)
    moving = motion_of(model, run)
    assert traceable(moving, "rod") == ("rod", "rod.A", "rod.B", "tool")
    assert traceable(moving, "tool") == ("tool",)
    assert traceable(moving, "pin") == ("pin",)
    assert traceable(moving, "") == traceable(moving, "rod")
    plain = scene_of(moving, 0.4, selected="", forces=False, trace="")
    signals = {"rod": "rod.position", "rod.B": "rod.B.position", "tool": "tool.position"}
    far = {
        "rod": 0.4,
        "rod.A": 0.0,
        "rod.B": np.hypot(0.7, 0.2),
        "tool": np.hypot(0.8, 0.2),
        "pin": 0.0,
    }
    for name, radius in far.items():
        scene = scene_of(moving, 0.4, selected="", forces=False, trace=name)
        (path,) = [one for one, _ in scene.lines[len(plain.lines) :]]
        assert path.shape == (40, 2, 3)
        assert_allclose(np.linalg.norm(path, axis=2), radius, atol=1e-9)
        if name in signals:
            assert_allclose(path[-1, 1], run[signals[name]][40], atol=1e-12)
