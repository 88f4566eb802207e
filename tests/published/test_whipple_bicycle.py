"""The benchmark bicycle: two discs that roll without slip, three revolutes, no damping.

Meijaard, Papadopoulos, Ruina, Schwab, "Linearized dynamics equations for the balance and steer
of a bicycle: a benchmark and review", Proc. R. Soc. A 463 (2007), Table 2: eigenvalues of the
upright run at constant speed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.analysis import linearise
from vbg.analysis.rest.idle import sensible_point
from vbg.io.toml import parse
from vbg.validate import validate

MODEL = Path(__file__).with_name("whipple_bicycle.toml")
PUBLISHED = {  # speed [m/s]: weave (or its two real values), capsize, castering [1/s]
    0.0: (3.131643247906656, 5.530943717653330, -3.131643247906656, -5.530943717653330),
    5.0: (
        -0.775341882195845 + 4.464867713788229j,
        -0.775341882195845 - 4.464867713788229j,
        -0.322866429004087,
        -14.078389692798220,
    ),
}


@pytest.mark.parametrize("speed", PUBLISHED)
def test_its_eigenvalues(speed):
    """Six further poles are zero: where it is, where it heads, how its wheels stand, its speed."""
    place = sensible_point(vbg.assemble(vbg.read(MODEL).with_parameters(v=speed)))
    assert place.point.kind == ("steady motion" if speed else "equilibrium")
    poles = np.asarray(linearise(place.system, place.point, inputs=[]).eigenvalues)
    far = poles[np.abs(poles) > 1e-3]
    assert len(poles) == 10 and len(far) == 4
    for value in PUBLISHED[speed]:
        assert np.abs(far - value).min() < 1e-11 * np.abs(far).max(), value


def test_its_weave_begins_where_published():
    """Stable from 4.29238253634111 m/s on: there the weave neither grows nor decays."""
    place = sensible_point(vbg.assemble(vbg.read(MODEL).with_parameters(v=4.29238253634111)))
    poles = np.asarray(linearise(place.system, place.point, inputs=[]).eigenvalues)
    weave = poles[poles.imag > 1.0]
    assert len(weave) == 1 and abs(weave[0].real) < 1e-11 * abs(weave[0])


def test_pushed_it_weaves_alike_in_both_solvers():
    """No joint but contacts ties it to the ground: forces there, in hubs and in the steering."""
    text = MODEL.read_text("utf-8").replace('[0, "v', '[0.5, "v')
    report = validate(parse(text).with_parameters(v=4.6), t_end=1.0, in_children=False)
    first = report.solutions["vbg"]
    assert report.result == "PASS"
    assert np.abs(first["front_contact.force"][:, 1]).max() > 1.0
