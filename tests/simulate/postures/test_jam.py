"""A drive that jams ends the run with its reason at every tolerance."""

from pathlib import Path

import numpy as np
import pytest

import vbg

CRAWL = Path(__file__).parents[2] / "data/rests/crawl.toml"


@pytest.mark.parametrize("rtol", (1e-6, 1e-8, 1e-9))
@pytest.mark.parametrize("shake", range(3))
def test_a_jamming_drive_is_named_at_every_tolerance(rtol, shake):
    written = {key: value for key, value in vbg.read(CRAWL).document.items() if key != "vbg"}
    gravity = [g * (1.0 + 1e-13 * shake) for g in written["gravity"]]
    run = vbg.simulate(vbg.Model(**written | {"gravity": gravity}), rtol=rtol)
    assert run.status.code == "failed"
    assert "the joints cannot be kept closed any more" in run.status.sentence
    assert "joints.j0" in run.status.remedy
    assert np.isfinite(run["b6.angular_velocity"]).all()
    at = float(run.status.sentence.split("t = ")[1].split(" s")[0])
    assert at == pytest.approx(0.0116, rel=2e-3)


def test_a_drive_that_only_moves_slowly_goes_on():
    """Steps that cover little of a long output step are no jam: a stiff spring shakes a mass."""
    model = vbg.Model(
        name="slow",
        gravity=[0, 0, 0],
        bodies={
            "slider": {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}},
            "mass": {
                "mass": 1e-6,
                "inertia": {"xx": 1e-9, "yy": 1e-9, "zz": 1e-9},
                "position": [1, 0, 0],
            },
        },
        joints={
            "guide": {
                "kind": "prismatic",
                "between": ["ground", "slider"],
                "axis": [1, 0, 0],
                "drive": "0.1*t",
            },
            "rail": {"kind": "prismatic", "between": ["ground", "mass"], "axis": [1, 0, 0]},
        },
        forces={
            "spring": {"kind": "spring", "between": ["slider", "mass"], "k": 1e4, "length": 0.99}
        },
    )
    run = vbg.simulate(model, t_end=2e-2, output_step=2e-2, method="dop853")
    assert run.status.code == "finished"
    assert run.made_by.n_steps > 400
