"""Ideal diodes behind chokes: a bridge of three phases that feeds a constant current.

The mean of its voltage is 3 sqrt(3) V/pi - 3 w L I/pi, and two phases conduct side by side during
an angle u with cos u = 1 - 2 w L I/(sqrt(3) V) (N. Mohan, T. Undeland, W. Robbins, Power
Electronics, 5-6).  Where a diode stops, the choke's current is zero but for its rounding, of which
the conductance of a diode that blocks makes as many volts.
"""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.tail import tail

BEGIN = float(np.radians(80.0))  # where phases a and b conduct alone
SHARE = 0.05  # w L I/V


def bridge(volts, amperes, hertz, leak):
    """`leak`: conductance of a diode that blocks, in amperes/volts."""
    ohms, w = volts / amperes, 2.0 * np.pi * hertz
    law = {"law": "ideal", "Ron": 1e-4 * ohms, "Goff": leak / ohms}
    parts = {
        "load": {"kind": "current_source", "nodes": ["p", "m"], "current": amperes},
        "earth": {"kind": "resistor", "nodes": ["m", "gnd"], "R": 1e6 * ohms},
    }
    for k, (name, share) in enumerate({"a": 1.0, "b": -1.0, "c": 0.0}.items()):
        angle = f"{w!r}*t + {BEGIN - 2.0 * np.pi * k / 3.0!r}"
        source, choke = [f"s{name}", "gnd"], [f"s{name}", name]
        inductance = {"L": SHARE * ohms / w, "current": share * amperes}
        parts |= {
            f"V{name}": {
                "kind": "voltage_source",
                "nodes": source,
                "voltage": f"{volts!r}*sin({angle})",
            },
            f"L{name}": {"kind": "inductor", "nodes": choke} | inductance,
            f"D{name}": {"kind": "diode", "nodes": [name, "p"]} | law,
            f"E{name}": {"kind": "diode", "nodes": ["m", name]} | law,
        }
    run = {"t_end": 1.0 / hertz, "output_step": 0.01 / hertz}
    return vbg.Model(electric=parts, simulate=run, outputs={"energy": True})


@pytest.mark.parametrize("leak", tail([1e-8, 1e-5, 1e-4], 1))
@pytest.mark.parametrize(
    ("volts", "amperes", "hertz"),
    tail([(325.0, 20.0, 50.0), (1e-3, 1e-6, 3e5), (2e5, 3e3, 0.02), (1.0, 1e-9, 1e3)], 1),
)
def test_mean_and_overlap(volts, amperes, hertz, leak):
    for start in shaken(vbg.start(bridge(volts, amperes, hertz, leak)), size=1e-13 * amperes):
        found = vbg.simulate(start)
        assert found.status.code == "finished", found.status
        # behind the transient of chokes and diodes that block, whose currents are not written
        events = [event for event in found.audit.events if event.time * hertz > 1e-3]
        names = [event.where for event in events]
        assert sorted(names) == sorted(2 * [f"{d}{n}.on" for d in "DE" for n in "abc"])
        mean = found["load.energy"][-1] / amperes * hertz
        expected = 3.0 * np.sqrt(3.0) / np.pi - 3.0 * SHARE / np.pi - 2e-4
        assert abs(mean) / volts == pytest.approx(expected, abs=10.0 * leak + 1e-4)
        overlaps = np.diff([event.time for event in events])[::2] * 2.0 * np.pi * hertz
        angle = np.arccos(1.0 - 2.0 * SHARE / np.sqrt(3.0))
        np.testing.assert_allclose(overlaps, angle, atol=10.0 * leak + 1e-4)
