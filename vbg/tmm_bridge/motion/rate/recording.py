"""A mechanism's formulas on one tape, in the order in which `program` plays them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.formulas.tangent import jacobian_recorded
from vbg.tmm_bridge.formulas.tape import Tape
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.program import Program
from vbg.tmm_bridge.kernels.tables import COORDINATE_TREE
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.motion.rate.dependent import Dependence, reduced
from vbg.tmm_bridge.motion.rate.sources_read import Read, sources_read
from vbg.tmm_bridge.onedim.laws.mechanical import JOINT, PAIR
from vbg.tmm_bridge.onedim.laws.working import (
    BALANCE,
    CHANGES,
    FEEDS,
    OUTPUTS,
    SECTIONS,
    SLOPES,
    TIME,
    Working,
)
from vbg.tmm_bridge.onedim.network import Network, balance, energies
from vbg.tmm_bridge.onedim.offsets import Between

_PLAIN = (
    *("x", "rates", "z", "residual", "changes", "outputs", "held", "reactions", "given", "shafts"),
)

_Found = tuple[Program, Dependence | None, Array, tuple[Read, ...]]


def program_of(mechanism: Mechanism) -> _Found:
    """The program of a mechanism, with a memory of its own; what holds states of its network
    together; places of what its samplers read, known where changes are; sources whose efforts are
    read.

    Raises UsageError for a network that is not determined even by that.
    """
    tape = Tape(section=TIME)
    t = tape.place()
    drives = [
        [tape.slot(f.record(tape, t, order)).place for order in range(3)] for f in mechanism.drives
    ]
    network = mechanism.network
    inputs = [
        (n, tape.slot(f.record(tape, t, 0)).place)
        for n, f in enumerate(mechanism.inputs)
        if network is None or n not in network.fed_inputs
    ]
    places: dict[str, list[Any]] = {"drives": drives, "inputs": inputs}
    dependence: Dependence | None = None
    read: tuple[Read, ...] = ()
    if network is not None:
        places |= _recorded(network, work := network.working(tape, t))
        read = tuple(sources_read(network, work))
        sizes = [*network.scales, *places["torn"]]
        dependence = reduced(tape, places, np.array(sizes))
        tape.section = SLOPES
        balance_now = list(tape.sections.get(BALANCE, ()))
        places["slopes"] = jacobian_recorded(tape, balance_now, places["z"], places["residual"])
    finished = tape.played(SECTIONS)
    n_z, asked = len(places.get("z", ())), _hinges_asked(mechanism, places.get("asked", ()))
    scales = np.ones(n_z)  # of accelerations that are asked for: behind the others
    if network is not None:
        scales[: len(sizes)] = sizes
    widths = {"drives": 3, "inputs": 2, "fed": 2, "joints": 3, "pairs": 4, "grip": 3}
    widths |= {"sensors": 3, "accelerations": 2, "slopes": 3}
    tables = {
        name: np.array(places.get(name, []), dtype=np.int64).reshape(
            (-1, widths[name]) if name in widths else -1
        )
        for name in (*widths, *_PLAIN)
    }
    program = Program(
        code=finished.code,
        memory=finished.memory,
        curves=finished.curves,
        ends=finished.ends,
        scales=scales,
        asked=np.array(asked, dtype=np.int64).reshape(-1, 2),
        yields=np.array(places.get("yields", []), dtype=np.int64).reshape(
            len(asked), -1 if asked else 0
        ),
        inverse=np.zeros((n_z, n_z)),
        valid=np.zeros(1, dtype=np.int64),
        grain=np.zeros(n_z),
        root=np.zeros(n_z),
        away=np.zeros(n_z),
        points=np.array(places.get("points", []), dtype=float).reshape(-1, 6),
        frames=np.array(places.get("frames", []), dtype=float).reshape(-1, 12),
        slope=np.zeros((n_z, n_z)),
        jacobian=np.zeros((n_z, n_z)),
        room=np.zeros((4, n_z)),
        **tables,
    )
    return program, dependence, np.array(places.get("sampled", []), dtype=np.int64), read


def _hinges_asked(mechanism: Mechanism, asked: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """(speed of the hinge, place) of the accelerations that a network asks for by coordinate.

    Raises UsageError where these are not of the tree, or may jump: impulses do not know what the
    network carries."""
    network, t = mechanism.network, mechanism.tables
    if not asked or network is None:
        return []
    if any(t.coordinates[k, 0] != COORDINATE_TREE for k, _ in asked):
        raise _no_twin("a joint that closes a loop moves a store")
    sudden = any(drive.breaks or drive.switches for drive in mechanism.drives)
    sudden |= any(isinstance(part, Between) and part.mass > 0.0 for part in network.parts)
    if sudden or network.latches:
        raise _no_twin("joints whose speed may jump move a store")
    return [(int(t.coordinates[k, 3]), place) for k, place in asked]


def _no_twin(why: str) -> UsageError:
    return UsageError(
        f"The network of one-dimensional parts has no twin in the transfer-matrix solver: {why}."
    )


def _recorded(network: Network, w: Working) -> dict[str, list[Any]]:
    """The network on the tape of `w`, section by section; places of what others read."""
    tape = w.tape
    motion = [(i, shaft) for i, shaft in enumerate(network.shafts) if shaft.kind in (JOINT, PAIR)]
    moved = [(s, tape.slot(w.positions[i]).place, tape.slot(w.speeds[i]).place) for i, s in motion]
    tape.section = BALANCE
    balance(network, w)
    tape.section = FEEDS
    efforts = [(n, tape.slot(sign * w.efforts[i]).place) for n, i, sign in network.efforts]
    whole = energies(network, w)
    w.rates[network.works], w.rates[network.works + 1] = whole.supplied, whole.lost
    fed = efforts + [(n, tape.slot(value(w)).place) for n, value in network.feeds]
    tape.section = CHANGES
    changes = [tape.slot(v).place for _, _, read in network.changes for v in read(w)]
    sampled = [tape.slot(held.input(w)).place for held in network.samplers]
    grip = [
        (
            tape.slot(f.port.speed(w)).place,
            tape.slot(f.told(w)).place,
            tape.slot(f.most(w)).place,
        )
        for f in network.frictions
    ]
    tape.section = OUTPUTS
    outputs = [tape.slot(read(w)).place for _, _, read in network.outputs]
    jointed = [(s.place, w.accelerations[i].place) for i, s in motion if s.kind == JOINT]
    told = whole.brought, whole.kinetic, whole.potential
    energy = [tape.slot(value).place for value in told]
    pairs = [(network.pairs[s.place], p, v) for s, p, v in moved if s.kind == PAIR]
    return {
        "fed": fed,
        "x": [slot.place for slot in w.x],
        "modes": [w.x[place].place for place in network.discrete],
        "rates": [slot.place for slot in w.rates.slots],
        "z": [slot.place for slot in (*w.z, *(early for early, _, _ in w.torn))],
        "residual": [slot.place for slot in (*w.residual.slots, *(left for _, left, _ in w.torn))],
        "torn": [scale for _, _, scale in w.torn],
        "joints": [(s.place, p, v) for s, p, v in moved if s.kind == JOINT],
        "pairs": [(*pair.nodes, p, v) for pair, p, v in pairs],
        "points": [(*pair.first, *pair.second) for pair, _, _ in pairs],
        "sensors": [(s.node, s.what, seen[0].place) for s, seen in zip(network.sensors, w.seen)],
        "frames": [(*sensor.point, *sensor.R_NB) for sensor in network.sensors],
        "held": [slot.place for slot in w.held],
        "accelerations": jointed,
        "reactions": [slot.place for slot in w.reactions],
        "changes": changes,
        "grip": grip,
        "outputs": outputs + energy,
        "sampled": sampled,
        "shafts": [tape.slot(position).place for position in w.positions],
    }
