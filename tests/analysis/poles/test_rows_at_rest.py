"""Poles of machines with redundant joints do not depend on the order of the joints in the file.

Which rows are eliminated with does, and those that are independent where the machine begins may
be nearly dependent where it rests: Bennett's linkage, its joints in reverse, turns on its way to
rest until the last of its rows is 2.5e-8 of its length off the others.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.analysis import linearise
from vbg.analysis.probe.probe import Probe

BENNETT = Path(__file__).parents[3] / "examples" / "bennett.toml"
POSTURES = ((30.0, 70.0), (25.0, 100.0), (35.0, 55.0))  # twist, angle at the start [deg]


def frequencies(model):
    start = vbg.start(model, "equilibrium")
    assert start.dependent == 3
    modes = linearise(start.system, start.state, inputs=()).modes
    return sorted(mode.frequency for mode in modes)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "theta"), POSTURES)
def test_poles_do_not_depend_on_the_order_of_joints(alpha, theta):
    model = vbg.read(BENNETT).with_parameters(alpha=f"{alpha} deg", theta1=f"{theta} deg")
    first, rng = frequencies(model), np.random.default_rng(1)
    names = list(model.joints)
    for order in (names[::-1], list(rng.permutation(names))):
        document = {**model.document, "joints": {k: model.document["joints"][k] for k in order}}
        assert frequencies(vbg.Model.from_document(document)) == pytest.approx(first, rel=1e-8)


@pytest.mark.parametrize(("alpha", "theta"), POSTURES)
def test_what_a_state_has_does_not_depend_on_what_was_looked_at_before(alpha, theta):
    """Bit for bit, in the joints' forces too, which are shared otherwise by other rows."""
    model = vbg.read(BENNETT).with_parameters(alpha=f"{alpha} deg", theta1=f"{theta} deg")
    names = list(model.joints)[::-1]
    document = {**model.document, "joints": {k: model.document["joints"][k] for k in names}}
    turned = vbg.Model.from_document(document)
    start, rest = vbg.start(turned), vbg.start(turned, "equilibrium")
    states = start.state, rest.state
    used = Probe(start.system)
    assert not np.array_equal(*(used.rows_at(0.0, x) for x in states))
    for x in states:
        fresh = Probe(start.system)
        values, drift = fresh.values(0.0, x), Probe(start.system).drift(0.0, x)
        for other in states:
            used.jacobian(0.0, other)
            np.testing.assert_array_equal(used.values(0.0, x), values)
            used.jacobian(0.0, other)
            np.testing.assert_array_equal(used.drift(0.0, x), drift)
