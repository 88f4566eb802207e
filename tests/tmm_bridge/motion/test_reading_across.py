"""Sources that read what parts of other domains exert and carry: whatever the order in which a
balance comes to them, they read it of their own instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import only
from vbg.tmm_bridge import simulate as second
from vbg.validate import validate

Tables = dict[str, dict[str, dict[str, Any]]]

# what is read, by what is typical of it
TYPICAL = {
    5.0: "fr.power tq.power",
    3.0: "sp.torque",
    2.0: "fr.torque dr.torque f.power tf.force",
    1.0: "b.torque cl.torque",
    0.5: "V.power",
    0.1: "R.current V.current C.current q.current q2.current",
    1e-5: "res.flow P.flow vol.flow fs.flow",
    10.0: "P.power",
}
READ = {name: size for size, names in TYPICAL.items() for name in names.split()}
# what reads: its key, its mean and its size
READING = {
    "tq": ("torque", 0.0, 1.0),
    "cl": ("engaged", 0.5, 0.3),
    "f": ("force", 0.0, 1.0),
    "V": ("voltage", 4.0, 2.0),
    "q": ("current", 0.0, 0.1),
    "q2": ("current", 0.0, 0.1),
    "P": ("pressure", 1e6, 2e5),
    "fs": ("flow", 0.0, 1e-5),
}


def part(kind: str, *nodes: str, **keys: Any) -> dict[str, Any]:
    return {"kind": kind, "nodes": list(nodes), **keys}


def machine() -> Tables:
    """Two shafts, one that is driven, a slide, a circuit with stores, oil in a volume."""
    return {
        "rotational": {
            "J": part("inertia", "a", J=0.5, speed=3.0),
            "fr": part("friction", "a", coulomb=0.4, viscous=0.02),
            "b": part("damper", "a", c=0.1),
            "tq": part("torque", "a"),
            "J2": part("inertia", "b", J=0.3),
            "cl": part("clutch", "a", "b", capacity=0.5),
            "dr": part("speed", "d", speed="2*sin(t)"),
            "Jd": part("inertia", "d", J=0.2),
            "sp": part("damper", "d", "b", c=0.3),
        },
        "translational": {
            "m": part("mass", "x", m=2.0),
            "f": part("force", "x"),
            "tf": part("friction", "x", coulomb=0.2, viscous=1.0),
        },
        "electric": {
            "V": part("voltage_source", "u", "gnd"),
            "R": part("resistor", "u", "v", R=20.0),
            "q": part("current_source", "gnd", "v"),
            "C": part("capacitor", "v", "gnd", C=0.01, voltage=1.0),
            "L": part("inductor", "v", "w", L=0.5),
            "Rw": part("resistor", "w", "gnd", R=10.0),
            "q2": part("current_source", "gnd", "w"),
        },
        "hydraulic": {
            "P": part("pressure_source", "p", "tank"),
            "res": part("laminar_resistance", "p", "h", conductance=1e-11),
            "vol": part("volume", "h", volume=1e-3, bulk=1.5e9, pressure=5e5),
            "out": part("laminar_resistance", "h", "tank", conductance=2e-11),
            "fs": part("flow_source", "tank", "h"),
        },
    }


def law(random: np.random.Generator, name: str, *, reads: bool) -> str:
    """A mean, a wave, and a share of what another part tells, which stays within its size."""
    _, mean, size = READING[name]
    text = f"{mean!r} + {0.7 * size!r}*cos(3*t)"
    if reads:
        told = str(random.choice([one for one in READ if not one.startswith(f"{name}.")]))
        share = size * float(random.choice([-1.0, 1.0]) * random.uniform(0.1, 0.4))
        text += f" + {share!r}*({told}/{READ[told]!r})/(1 + abs({told})/{READ[told]!r})"
    return text


def read_across(seed: int) -> vbg.Model:
    """One to three of the sources read what another part tells; parts in any order."""
    random = np.random.default_rng(seed)
    reading = set(random.choice(list(READING), random.integers(1, 4), replace=False))
    tables: Tables = {}
    for table, parts in machine().items():
        names = [str(name) for name in random.permutation(list(parts))]
        tables[table] = {name: parts[name] for name in names}
        for name in names:
            if name in READING:
                parts[name][READING[name][0]] = law(random, name, reads=name in reading)
    return vbg.Model(simulate={"t_end": 1.0, "output_step": 0.05}, **tables)


SEEDS = [seed for seed in range(30) if seed != 10]  # two that read each other: refused


@pytest.mark.parametrize("seed", only([13, 19], SEEDS))
def test_what_is_read_is_of_its_own_instant(seed):
    report = validate(read_across(seed), rtol=1e-9, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert all(channel.source != "replayed" for channel in report.channels)


@pytest.mark.parametrize("current", ["brake.power", "-brake.torque*fly.speed"])
def test_the_heat_of_a_brake_flows_from_the_first_row_on(current):
    """J w' = -M: the power is M (w_0 - M t / J)."""
    J, M, w0 = 2.0, 25.0, 100.0
    model = vbg.Model(
        rotational={
            "fly": part("inertia", "s", J=J, speed=w0),
            "brake": part("friction", "s", coulomb=M),
        },
        electric={
            "q": part("current_source", "gnd", "disc", current=current),
            "Cd": part("capacitor", "disc", "gnd", C=900.0, voltage=20.0),
        },
        simulate={"t_end": 1.0, "output_step": 0.1},
    )
    run = second(model)
    assert_allclose(np.abs(run["q.current"]), M * (w0 - M * run.time / J), rtol=1e-9)
