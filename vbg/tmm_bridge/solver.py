"""`simulate`: the embedded transfer-matrix solver from a Model to a Solution."""

from __future__ import annotations

import importlib.metadata
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

import numpy as np

from vbg.errors import Problem
from vbg.model import Model
from vbg.solution import Audit, MadeBy, Solution, checked, judged
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.kernels.entries import posture, take_motion
from vbg.tmm_bridge.kernels.motion.rotation import Array, quaternion_of
from vbg.tmm_bridge.kernels.rows import W_R
from vbg.tmm_bridge.mechanism.contradictions import problems_of
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.scales import row_units, strain_of_rounding
from vbg.tmm_bridge.mechanism.start import Pose, drive_rates, model_size, start
from vbg.tmm_bridge.motion.integration import Progress, integrate
from vbg.tmm_bridge.motion.rate.instants import output_grid
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.motion.signals.channels import Record, replay, signals
from vbg.tmm_bridge.motion.signals.energies import energy_signals, residual_signals
from vbg.tmm_bridge.motion.signals.resisting import not_resisting, work_of_rounding
from vbg.tmm_bridge.motion.signals.ties import tied, untied
from vbg.tmm_bridge.motion.signals.uniqueness import not_unique
from vbg.tmm_bridge.motion.trajectory import Trajectory
from vbg.tmm_bridge.notes import APART

# residuals that an audit allows: of the energy in rtol of the run, between two bounds, relative to
# the largest energy; of positions [rad or the machine's size]; of velocities relative to the
# fastest, or what in the whole run makes as much as is allowed of positions
ENERGY, CLOSEST, LOOSEST = 1e3, 1e-8, 1e-5
ROUNDINGS = 16.0  # last digits of the largest energy, and work of the last digits of places
POSITION, VELOCITY = 1e-9, 1e-7
OPEN = 1e-10  # of a turn or the machine's size: the work of a wider gap of a loop is a loss
METHOD = "mstmm riccati, dop853"


def simulate(
    model: Model,
    *,
    t_end: float | None = None,
    output_step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    progress: Progress | None = None,
    poses: Mapping[str, Pose] | None = None,
    speeds_as_written: bool = False,
    angles: Mapping[str, float] | None = None,
    replays: Mapping[str, TimeFunction] | None = None,
    held: Mapping[str, float] | None = None,
    patience: float = math.inf,
    beside: tuple[float, ...] = (),
) -> Solution:
    """Motion and joint forces by the transfer matrix method.

    What is not given is taken from `model.simulate`.  `poses` start the run from
    assembled poses and velocities instead of assembling the written ones, whose speeds are
    still to be made consistent if they are `speeds_as_written`; `angles` [rad] of joints
    ("JOINT.angle") say which turn they are in;
    `replays` are recorded efforts in the place of one-dimensional parts and of feedback, named
    as `lay_out` says; without any these parts are integrated here.  `held` are values at the
    start of signals that no part writes: angles and positions of nodes
    ("rotational.NODE.angle"), what a controller keeps ("NAME.integral", "NAME.filtered").
    `beside` are instants [s] of rows besides those of the output step.  A run
    that cannot go on, or that would take more than `patience` evaluations of the rate, returns
    what it has, with a status that says why.

    Raises AssemblyError for a mechanism that does not close or has a hinge
    without inertia, UsageError for parts without a twin here.
    """
    settings = model.simulate
    rtol = settings.rtol if rtol is None else rtol
    atol = settings.atol if atol is None else atol
    grid = output_grid(
        settings.t_end if t_end is None else t_end,
        settings.output_step if output_step is None else output_step,
    )
    grid = np.union1d(grid, beside) if beside else grid
    begun = time.process_time()
    mechanism = lay_out(model, replays, held)
    begin = start(mechanism, poses, speeds_as_written=speeds_as_written, angles=angles)
    mechanism, y = with_network(mechanism, begin.y)
    trajectory = integrate(mechanism, y, grid, rtol, atol, progress, patience)
    record = replay(mechanism, trajectory)
    made_by = MadeBy(
        solver="tmm_bridge",
        model=model.name,
        model_hash=model.hash,
        method=f"{METHOD}, radau" if trajectory.stiff else METHOD,
        rtol=rtol,
        atol=atol,
        versions={name: importlib.metadata.version(name) for name in ("numpy", "scipy", "numba")},
        n_steps=trajectory.n_steps,
        n_rates=trajectory.n_rates,
        cpu=time.process_time() - begun,
    )
    notes = (
        *problems_of(begin.moved, begin.turned, model_size(mechanism), let_go=begin.let_go),
        *not_unique(mechanism, trajectory),
        *left_apart(mechanism),
    )
    found = _solution(mechanism, trajectory, record, made_by, notes)
    return checked(found, model_size(mechanism))


def with_network(mechanism: Mechanism, y: Array) -> tuple[Mechanism, Array]:
    """The start with the states of the network, whose gears and screws count from here."""
    if mechanism.network is None:
        return mechanism, y
    plant = Plant(mechanism)
    posture(mechanism.tables, plant.scratch, y.copy(), drive_rates(mechanism, 0.0))
    take_motion(plant.program, plant.scratch)
    origins = tuple(map(float, plant.program.memory[plant.program.shafts]))
    network = replace(mechanism.network, origins=origins)
    t, y = mechanism.tables, y.copy()
    for hinge in network.hinges:
        y[t.sizes[0] + t.coordinates[hinge.coordinate, 3]] = hinge.speed
    states = np.array(network.start)
    for state, sensor in network.attitudes:
        R_WN = plant.scratch.work[sensor.node, W_R : W_R + 9].reshape(3, 3)
        states[state : state + 4] = quaternion_of(R_WN @ np.reshape(sensor.R_NB, (3, 3)))
    return replace(mechanism, network=network), np.concatenate([y, states])


def left_apart(mechanism: Mechanism) -> tuple[Problem, ...]:
    """A note on parts that this solver leaves to the other one."""
    why = mechanism.apart
    return (Problem("note", "model", f"{APART}{why}"),) if why else ()


def _solution(
    mechanism: Mechanism,
    trajectory: Trajectory,
    record: Record,
    made_by: MadeBy,
    notes: tuple[Problem, ...],
) -> Solution:
    named, units = {}, {}
    told = (
        signals(mechanism, record),
        energy_signals(mechanism, record),
        residual_signals(mechanism, record),
    )
    for name, values, unit in chain.from_iterable(told):
        named[name] = values
        units[name] = unit
    return Solution(
        trajectory.time,
        named,
        _audit(mechanism, named, record, trajectory, made_by.rtol),
        made_by,
        trajectory.status,
        units,
        notes,
    )


def _fastest(mechanism: Mechanism, named: Mapping[str, np.ndarray]) -> float:
    """The largest speed of a body [rad/s, or lengths of the mechanism in a second]."""
    length = float(mechanism.tables.length[0])
    sizes = {"velocity": length, "angular_velocity": 1.0}
    found = [
        float(np.abs(named[f"{body}.{what}"]).max(initial=0.0)) / size
        for body in mechanism.model.bodies
        for what, size in sizes.items()
        if f"{body}.{what}" in named
    ]
    return max(found, default=0.0)


def _largest_energy(named: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """The largest that took part in the motion, and that is held at all [J]."""
    energies = [named[f"energy.{n}"] for n in ("kinetic", "potential", "supplied", "dissipated")]
    largest = max(*(np.ptp(values) for values in energies), np.abs(energies[0]).max(), 1e-300)
    return float(largest), max(float(np.abs(values).max()) for values in energies)


def _passed_on(named: Mapping[str, np.ndarray], duration: float) -> float:
    """Through all parts during the run, in either direction [J]."""
    powers = (np.abs(values) for name, values in named.items() if name.endswith(".power"))
    through = (power[np.isfinite(power)] for power in powers)
    return duration * sum(float(power.mean()) for power in through if power.size)


def _between_rows(mechanism: Mechanism, trajectory: Trajectory) -> Mapping[str, np.ndarray]:
    """Energies of the start and at the ends of some steps."""
    kept = trajectory.between.kept
    times = np.array([trajectory.inside[0], *(seen.inside for seen in kept)])
    states = np.array([trajectory.states[0], *(seen.state for seen in kept)])
    record = replay(mechanism, replace(trajectory, time=times, states=states, inside=times))
    return {name: values for name, values, _ in energy_signals(mechanism, record)}


def _work_of_gaps(record: Record, units: np.ndarray) -> float:
    """Of the efforts of the loops along what their rows are open by [J]: a rod that a closed joint
    carries falls by the last digits of its place."""
    gaps = np.minimum(np.abs(record.gaps[:, :, 0]), OPEN * units)
    return float((np.abs(record.effort) * gaps).sum(axis=1).max(initial=0.0))


def _audit(
    mechanism: Mechanism,
    named: Mapping[str, np.ndarray],
    record: Record,
    trajectory: Trajectory,
    rtol: float,
) -> Audit:
    """Residuals, that of the energy relative to the largest energy of the run, between its rows,
    too, where they say that much is missing; those of gaps and speeds by their rows: turns as they
    are, distances in the model's size; and the law of dry frictions."""
    largest, held = _largest_energy(named)
    missing = float(np.abs(named["energy.residual"]).max())
    if missing > CLOSEST * largest and trajectory.between.kept:
        between = _largest_energy(_between_rows(mechanism, trajectory))
        largest, held = np.maximum((largest, held), between)
    # a strained machine at rest holds energy that does not swing: its last digits are no loss,
    # nor is what every step leaves in stiff parts by those of places, or what dry frictions hold,
    # or those of what sources feed to one another, or what loops are open by
    strains = trajectory.n_steps * strain_of_rounding(mechanism.tables)
    noise = strains + work_of_rounding(mechanism, record, trajectory.liveliest)
    held += _passed_on(named, float(trajectory.time[-1]))
    units, duration = row_units(mechanism.tables), float(trajectory.time[-1]) or 1.0
    # every step rounds what is held, up or down
    walked = float(np.finfo(float).eps) * held * np.sqrt(max(trajectory.n_steps, 1))
    rounding = ROUNDINGS * (walked + noise)
    if missing <= rounding + _work_of_gaps(record, units):
        missing = 0.0
    apart = tied(mechanism, record, trajectory.n_steps)
    found = Audit(
        energy_residual=missing / largest,
        position_residual=float((np.abs(record.gaps[:, :, 0]) / units).max(initial=0.0)),
        velocity_residual=float((np.abs(record.gaps[:, :, 1]) / units).max(initial=0.0)),
        dependent_residual=apart,
        events=trajectory.events,
        energy_limit=float(np.clip(ENERGY * rtol, CLOSEST, LOOSEST)),
        position_limit=POSITION,
        velocity_limit=max(VELOCITY * _fastest(mechanism, named), POSITION / duration),
        crossings=trajectory.crossings,
    )
    audit = judged(found)
    told = (*not_resisting(mechanism, record, largest), *untied(apart, rtol))
    return replace(audit, failures=(*audit.failures, *told))
