"""Energies and residuals of a run of the second solver, at the output times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from vbg.tmm_bridge.kernels.closing.independence import REDUNDANT
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import LINK_MASS, W_W
from vbg.tmm_bridge.mechanism.mechanism import BodyPlace, Mechanism
from vbg.tmm_bridge.motion.signals.channels import Record, Signal, column, point_of, rotation_of
from vbg.tmm_bridge.tree.forest import GROUND


def energy_signals(mechanism: Mechanism, record: Record) -> Iterator[Signal]:
    """Energies of the run; the residual is stored + dissipated - supplied - start."""
    kinetic, potential = kinetic_energy(mechanism, record), gravity_energy(mechanism, record)
    moving, bent = bending_energy(mechanism, record)
    kinetic = kinetic + moving
    springs = bent + (
        record.law[:, :, 2].sum(axis=1)
        + record.pair[:, :, 2].sum(axis=1)
        + record.bush[:, :, 7].sum(axis=1)
        + record.elastic[:, :, 7].sum(axis=1)
    )
    supplied, dissipated = (record.states[:, mechanism.size - k] for k in (2, 1))
    if mechanism.network is not None:
        works = mechanism.size + mechanism.network.works
        kinetic, springs = kinetic + record.network[:, -2], springs + record.network[:, -1]
        brought = record.network[:, -3]
        supplied = supplied + record.states[:, works] + brought - brought[0]
        dissipated = dissipated + record.states[:, works + 1]
    stored = kinetic + potential + springs
    yield "energy.kinetic", kinetic, "J"
    yield "energy.potential", potential + springs, "J"
    yield "energy.stored", stored, "J"
    yield "energy.supplied", supplied, "J"
    yield "energy.dissipated", dissipated, "J"
    # from the first row on: what happens at t = 0 has cost its energy there
    begun = stored[0] + dissipated[0] - supplied[0]
    yield "energy.residual", stored + dissipated - supplied - begun, "J"


def residual_signals(mechanism: Mechanism, record: Record) -> Iterator[Signal]:
    """How well the loops are closed, and how near to a singular posture."""
    zero: Any = np.zeros(len(record.time))
    m = record.gaps.shape[1]
    if m:
        yield "residual.nearness", _nearness(mechanism, record), "1"
    yield "residual.position", np.abs(record.gaps[:, :, 0]).max(axis=1) if m else zero, "m or rad"
    speeds = np.abs(record.gaps[:, :, 1]).max(axis=1) if m else zero
    yield "residual.velocity", speeds, "m/s or rad/s"


def _nearness(mechanism: Mechanism, record: Record) -> Array:
    """`nearness` of each span in which the same joints are open."""
    network, own = mechanism.network, mechanism.size
    latches = network.latches if network is not None else ()
    modes = record.states[:, [own + latch.mode for latch in latches]] > 0.5
    found = np.ones(len(record.time))
    for pattern in np.unique(modes, axis=0):
        there = (modes == pattern).all(axis=1)
        found[there] = nearness(record.stiffness[there])
    return found


def nearness(mobilities: Array) -> Array:
    """Smallest squared singular value of the loops' rows over the largest, at every output.

    Counted are as many as the mechanism has independent rows away from singular postures:
    zero in one.
    """
    largest = np.maximum(mobilities[:, -1], 1e-300)
    shares = mobilities / largest[:, None]
    rank = int(np.median(np.count_nonzero(shares > REDUNDANT**2, axis=1)))
    smallest: Array = shares[:, mobilities.shape[1] - rank] if rank else np.ones(len(shares))
    return smallest


def _masses(mechanism: Mechanism) -> Iterator[tuple[str, BodyPlace, float]]:
    for body, place in mechanism.bodies.items():
        if body != GROUND:
            yield body, place, float(mechanism.tables.link[place.node, LINK_MASS])


def kinetic_energy(mechanism: Mechanism, record: Record) -> Array:
    """1/2 m v^2 + 1/2 w J w of all bodies."""
    total = np.zeros(len(record.time))
    for _, place, mass in _masses(mechanism):
        _, v = point_of(record, place.node, place.p_NB)
        six = mechanism.tables.link[place.node, 16:22]
        J = np.array([[six[0], six[3], six[5]], [six[3], six[1], six[4]], [six[5], six[4], six[2]]])
        w = column(record, place.node, W_W)
        w_N = np.einsum("nji,nj->ni", rotation_of(record, place.node), w)
        total += 0.5 * mass * np.sum(v * v, axis=1) + 0.5 * np.einsum("ni,ij,nj->n", w_N, J, w_N)
    return total


def bending_energy(mechanism: Mechanism, record: Record) -> tuple[Array, Array]:
    """Of flexible bodies: what bending adds to the kinetic energy, and what it stores."""
    t = mechanism.tables
    moving, stored = np.zeros(len(record.time)), np.zeros(len(record.time))
    for f, (node, q, v, n) in enumerate(t.flexes):
        at, speed = record.states[:, q : q + n], record.states[:, t.sizes[0] + v :][:, :n]
        R, w = rotation_of(record, node), column(record, node, W_W)
        x, y, z = np.einsum("nji,nj->in", R, w)
        turns = np.array([x * x, y * y, z * z, 2.0 * x * y, 2.0 * y * z, 2.0 * z * x])
        grown = np.einsum("km,nm->kn", t.flex_J[f, :, :n], at)
        grown += np.einsum("nm,kml,nl->kn", at, t.flex_JJ[f, :, :n, :n], at)
        swung = np.einsum("nm,jml,nl->jn", at, t.flex_G[f, :, :n, :n], speed)
        moving += 0.5 * np.sum(turns * grown, axis=0) + np.sum(swung * (x, y, z), axis=0)
        moving += 0.5 * np.sum(speed**2, axis=1)
        stored += 0.5 * at**2 @ t.flex[f, :n, 0]
    return moving, stored


def gravity_energy(mechanism: Mechanism, record: Record) -> Array:
    """-m g . p of all bodies."""
    total = np.zeros(len(record.time))
    for _, place, mass in _masses(mechanism):
        p, _ = point_of(record, place.node, place.p_NB)
        total -= mass * p @ mechanism.tables.gravity
    return total
