"""The parameter file of MSTMMSim, as the paper prints it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vbg.errors import ModelError, UsageError
from vbg.io import mstmmsim_xml
from vbg.model import Model
from vbg.tmm_bridge import simulate

PRINTED = Path(__file__).parent / "mstmmsim" / "two_pendulum_as_printed.xml"


def printed() -> Model:
    # The paper leaves the length out ("...").
    return mstmmsim_xml.read(PRINTED, {"L": 1.0})


def test_the_printed_file_is_understood():
    model = printed()
    assert model.name == "2-pendumul"
    assert list(model.bodies) == ["Body_Link1", "Body_Link2"]
    assert model.gravity == (0.0, 0.0, -9.81)
    assert model.simulate.t_end == 5.0
    assert model.simulate.output_step == 1e-3
    link = model.bodies["Body_Link1"]
    assert link.mass == 1.0
    np.testing.assert_allclose(link.inertia[:3], [1e-6 / 12, 1 / 12, 1 / 12])
    assert model.joints["JoRevp_Link1"].axis == (0.0, 1.0, 0.0)


def test_the_printed_file_runs_as_the_double_pendulum_it_means():
    model = printed()
    solution = simulate(model, t_end=1.0, output_step=0.05, rtol=1e-10, atol=1e-12)
    assert solution.status.code == "finished"
    np.testing.assert_allclose(solution["Body_Link2.position"][0], [1.5, 0, 0], atol=1e-12)
    # Energy of two rods falling from the horizontal stays what it was.
    total = solution["energy.kinetic"] + solution["energy.potential"]
    np.testing.assert_allclose(total, total[0], atol=1e-8)
    assert np.abs(solution["JoRevp_Link1.force"][:, 1]).max() < 1e-9


def test_the_length_is_missing_and_named():
    with pytest.raises(ModelError, match="L"):
        mstmmsim_xml.read(PRINTED)


def test_round_trip():
    model = printed()
    text = mstmmsim_xml.to_xml(model)
    again = Model.from_document(mstmmsim_xml.to_document(text, "again.xml", {}))
    assert list(again.joints) == list(model.joints)
    for name, body in model.bodies.items():
        np.testing.assert_allclose(again.bodies[name].inertia, body.inertia, rtol=1e-14)
    first = simulate(model, t_end=0.2, output_step=0.1, rtol=1e-10, atol=1e-12)
    second = simulate(again, t_end=0.2, output_step=0.1, rtol=1e-10, atol=1e-12)
    for name in ("Body_Link2.position", "JoRevh_Link1_Link2.force"):
        np.testing.assert_allclose(second[name], first[name], atol=1e-9)


BOMB = """<?xml version="1.0"?>
<!DOCTYPE model [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>
<model><model_name><name>&c;</name></model_name></model>"""
EXTERNAL = """<?xml version="1.0"?>
<!DOCTYPE model [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<model><model_name><name>&x;</name></model_name></model>"""


@pytest.mark.parametrize("text", [BOMB, EXTERNAL])
def test_entities_are_refused(text, tmp_path):
    file = tmp_path / "evil.xml"
    file.write_text(text)
    with pytest.raises(ModelError, match="refused"):
        mstmmsim_xml.read(file)


def test_unknown_joint_is_named(tmp_path):
    file = tmp_path / "odd.xml"
    file.write_text(PRINTED.read_text().replace("revolutehinge", "magichinge"))
    with pytest.raises(ModelError, match="magichinge"):
        mstmmsim_xml.read(file, {"L": 1.0})


def test_what_the_format_cannot_hold_is_refused():
    model = printed().edited(
        ("forces",), {"s": {"kind": "damper", "on": "joints.JoRevp_Link1", "c": 1.0}}
    )
    with pytest.raises(UsageError):
        mstmmsim_xml.to_xml(model)
