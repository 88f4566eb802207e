"""Rounding of rates beside dry friction: of a mode there is none, sliding is not sticking but for
a last digit."""

from __future__ import annotations

import itertools

import numpy as np

import vbg
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.solver import with_network


def test_rates_beside_friction_have_the_rounding_of_their_terms():
    """Shafts of random inertia, in every mode of a brake on one and a clutch between both: what
    the last digits of a state move are last digits of its rate."""
    rng = np.random.default_rng(8)
    for _ in range(5):
        J, dry, load = 10.0 ** rng.uniform(-3.0, 3.0, (3, 2))
        parts = {
            name: {"kind": "inertia", "nodes": [name], "J": inertia, "speed": float(rng.normal())}
            for name, inertia in zip("ab", J.tolist(), strict=True)
        }
        parts["brake"] = {"kind": "friction", "nodes": ["a"], "coulomb": float(dry[0])}
        parts["rim"] = {"kind": "friction", "nodes": ["a", "b"], "coulomb": float(dry[1])}
        parts["push"] = {"kind": "torque", "nodes": ["b"], "torque": float(load[0])}
        mechanism = lay_out(vbg.Model(name="shafts", rotational=parts))
        mechanism, y = with_network(mechanism, start(mechanism).y)
        plant, terms = Plant(mechanism), (dry.sum() + load[0]) / J.min()
        places = [mechanism.size + friction.mode for friction in mechanism.network.frictions]
        for modes in itertools.product((-1.0, 0.0, 1.0), repeat=len(places)):
            y[places] = modes
            noise = plant.noise(0.5, y, plant.rate(0.5, y))
            assert noise.max() < 1e-12 * (terms + np.abs(y).max() + dry.sum() * np.abs(y).max())
