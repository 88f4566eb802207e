"""Linear state space of a machine about an operating point.

    z' = A z + B u,   y = C z + D u

z are deviations on the constraint manifold (`vbg.analysis.probe.tangent`), so A has
exactly as many poles as the machine has states of its own: two for every degree
of freedom and one for every one-dimensional store.  All derivatives are exact
(complex steps).  The energy quadratures are not part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.analysis.linear.known import Apart, Known, rounding_of
from vbg.analysis.linear.modes import Mode, find_modes, may_be_rounding, stability
from vbg.analysis.linear.taps import sampled_states, wired
from vbg.analysis.probe.held import Sampling, sampling
from vbg.analysis.probe.kinks import Kink, cells, kinks_at, on_side, undecided
from vbg.analysis.probe.opened import Opened, Parted
from vbg.analysis.probe.probe import Input, Probe, choose_inputs
from vbg.analysis.probe.tangent import Tangent, tangent, turning
from vbg.analysis.rest.local import newton_step
from vbg.analysis.rest.operating import RESTS, OperatingPoint, classify
from vbg.analysis.rest.resting import stuck, with_modes
from vbg.analysis.rest.sizes import sizes_of
from vbg.assemble.start.start import assemble_start
from vbg.assemble.system import System
from vbg.errors import AssemblyError, UsageError, not_installed
from vbg.plumbing.components import component_names, spellings, vector_of

Array = NDArray[np.float64]

# signals that are outputs unless others are asked for
COORDINATES = (".angle", ".angle2", ".slide", ".speed", ".speed2", ".slide_speed")
OBSERVED = (*COORDINATES, ".current", ".voltage", ".pressure")


@dataclass(frozen=True, eq=False)
class Linearisation:
    """A (r, r), B (r, p), C (q, r), D (q, p) with names in the engineer's words.

    `basis` (n, r): x - x0 = basis @ z.  `signals` (rows of all signals by z) with
    `signal_names` serve the mode shapes.  `point` tells where and what kind of
    point it is; A of an instant that is no equilibrium is frozen at that instant.  Where the
    point lies at `kinks`, all this holds on the `side` only that the words say, and where a law
    jumps, not at all.  With `sampling` A holds from one sample to the next, and its multipliers
    tell what becomes of deviations.  `known`: what rounding left in the entries of A, where it
    has poles at zero or far below the fastest.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    point: OperatingPoint
    basis: Array
    signals: Array
    signal_names: tuple[str, ...]
    kinks: tuple[Kink, ...] = ()
    side: tuple[str, ...] = ()
    sampling: Sampling | None = None
    known: Known | None = None

    @cached_property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Poles [1/s], sorted by magnitude, then imaginary part."""
        values = np.linalg.eigvals(self.A).astype(np.complex128)
        order = np.lexsort((values.imag, np.round(np.abs(values), 9)))
        return values[order]

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """One for each conjugate pair and each real pole, slowest first."""
        return find_modes(self.A, self.state_names, self.signals, self.signal_names, self.known)

    @property
    def stability(self) -> str:
        """Whether deviations die out, in a sentence; at a kink poles do not tell."""
        if self.kinks:
            return undecided(self.kinks)
        sampling = self.sampling
        sentence = stability(self.A, self.known) if sampling is None else sampling.stability
        if self.point.kind == "instant":
            return f"As if frozen at this instant: {sentence[0].lower()}{sentence[1:]}"
        return sentence

    def to_control(self) -> Any:
        """As a `control.StateSpace` of python-control (extra `control`)."""
        try:
            import control
        except ImportError as error:
            raise not_installed("to_control()", "python-control", "control") from error
        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            states=[_plain(name) for name in self.state_names],
            inputs=[_plain(name) for name in self.input_names],
            outputs=[_plain(name) for name in self.output_names],
            name="vbg",
        )

    def input_index(self, name: str | None) -> int:
        return _index(name, self.input_names, "input")

    def output_index(self, name: str | None) -> int:
        return _index(name, self.output_names, "output")


def _plain(name: str) -> str:
    """python-control gives dots a meaning of their own."""
    return name.replace(".", "_")


def _index(name: str | None, names: tuple[str, ...], what: str) -> int:
    if name is None and len(names) == 1:
        return 0
    hits = [i for i, spelled in enumerate(spellings(names).values()) if name in spelled]
    if len(hits) != 1:
        raise UsageError(
            f"there is no {what} {name!r} here; there are {', '.join(names) or 'none'}."
        )
    return hits[0]


def linearise(
    system: System,
    x: ArrayLike | OperatingPoint | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    t: float = 0.0,
    *,
    loop: str | None = None,
) -> Linearisation:
    """Linear state space about `x` (default: the assembled start).

    `inputs`: names of sources ("motor", "push[2]"), default all but weights and
    drives; or of signals and quantities that parts read ("demand", "M.current"): the input is
    added to what they read.  `outputs`: names of signals or components ("A.angle",
    "A.force.z"), default the joint coordinates and speeds.

    `loop`: a signal at which the loop is opened: its readers get the value of the operating
    point and what an input adds to it, so that from it to itself, the default of inputs and
    outputs then, there is the loop's transfer function L with the sign that it has: the closed
    loop's poles are where L = 1, of a negative feedback -L is what has margins
    (`vbg.analysis.linear.crossings`).

    At a kink (`kinks` of the result) the first of its sides; `linearise_sides` gives all.

    Raises UsageError for an unknown name, an input that constraints would have to follow (a
    prescribed flow: its rate enters, so it is no input of a state space), or an output that
    an input reaches through a sample and hold.
    """
    return linearise_sides(system, x, inputs, outputs, t, loop=loop)[0]


def linearise_sides(
    system: System,
    x: ArrayLike | OperatingPoint | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    t: float = 0.0,
    *,
    loop: str | None = None,
    most: int = 1,
) -> tuple[Linearisation, ...]:
    """The same on each side of the kinks that the point lies at, up to `most` of them; one
    where it lies at none."""
    if isinstance(x, OperatingPoint):
        point = x
    else:
        start = assemble_start(system)
        at = start.state if x is None else np.array(x, dtype=float)
        point = classify(Probe(system), t, with_modes(start, t, at))
    if loop is not None:
        inputs, outputs = inputs or [loop], outputs or [loop]
    system = wired(system, point, inputs or (), loop)
    probe = Probe(system, choose_inputs(system, inputs))
    picked = _outputs(signal_names(probe), outputs)
    watched = signal_places(probe)[picked]
    near = kinks_at(probe, point.t, point.x, watched)
    kinks = tuple(kink for kink in near if kink.what != "smooth")
    sided = tuple(kink for kink in kinks if kink.what == "kink")
    others = tuple(kink for kink in near if kink.what != "kink")
    found = []
    for signs in (cells(sided) if sided else ((),))[:most]:
        at, sides = on_side(probe, point.x, (*sided, *others), (*signs, *(1.0 for _ in others)))
        words = tuple(kink.side(sign) for kink, sign in zip(sided, signs, strict=True))
        there = replace(point, x=at)
        found.append(_on_one_side(probe, there, sides, picked, _Sides(kinks, words)))
    return tuple(found)


def linearise_slipping(
    system: System,
    point: OperatingPoint,
    inputs: Sequence[str] | None = (),
    outputs: Sequence[str] | None = None,
    *,
    loop: str | None = None,
) -> Linearisation:
    """Where dry friction sticks at `point`: the same with all of it slipping slowly forward.
    Coulomb friction, constant then, only shifts the rest; what depends on speed is in A."""
    x = point.x.copy()
    for s in system.slices:
        if s.state.name in {f"{name}.forward" for name in stuck(system, point.x)}:
            x[s.first] = 1.0
    return linearise(system, replace(point, x=x), inputs, outputs, loop=loop)


@dataclass(frozen=True, slots=True)
class _Sides:
    kinks: tuple[Kink, ...]
    words: tuple[str, ...]


def _on_one_side(
    probe: Probe, point: OperatingPoint, sides: Array, picked: list[int], where: _Sides
) -> Linearisation:
    jacobian = probe.jacobian(point.t, point.x, sides)
    _require_inputs_outside_constraints(probe, jacobian, probe.inputs)
    n = probe.size
    space = tangent(probe, jacobian, point.x)
    rate = jacobian[probe.spans["rate"]]
    names, rows = signal_rows(probe, jacobian)
    if probe.inputs:
        _require_continuous(probe, np.vstack([rate[:, :n], rows[picked, :n]]))
    signals = rows[:, :n] @ space.basis

    def form(x: Array, derived: Array, there: Tangent) -> Array:
        return _form(probe, replace(point, x=x), sides, derived, there)

    A, known = form(point.x, jacobian, space), None
    if may_be_rounding(A):
        apart = None if point.kind == "instant" else _elements(probe, point, sides)
        way = _to_rest(probe, point, A, space)
        known = rounding_of(probe, point.t, point.x, sides, space, form, apart, way)
    return Linearisation(
        A=A,
        B=space.reduce @ rate[space.rows, n:],
        C=signals[picked],
        D=rows[picked, n:],
        state_names=space.names,
        input_names=tuple(i.name for i in probe.inputs),
        output_names=tuple(names[i] for i in picked),
        point=point,
        basis=space.basis,
        signals=signals,
        signal_names=tuple(names),
        kinks=where.kinks,
        side=where.words,
        sampling=sampling(probe.system, point.t, point.x, _full(probe, point, jacobian), space),
        known=known,
    )


def _to_rest(probe: Probe, point: OperatingPoint, A: Array, space: Tangent) -> Array | None:
    """What is left of the way to a rest, which is sought to RESTS of a large deviation."""
    if point.kind != "equilibrium":
        return None
    rates = probe.values(point.t, point.x)[probe.spans["rate"]]
    sizes = sizes_of(probe.system, space, point.x)
    step = newton_step(A, np.zeros((len(A), 0)), space.reduce @ rates[space.rows], sizes)
    return np.asarray(space.basis @ np.clip(step, -RESTS * sizes.large, RESTS * sizes.large))


def _full(probe: Probe, point: OperatingPoint, jacobian: Array) -> Array:
    """Slopes of the rates of x, seen in steady motion from where it goes."""
    rate = jacobian[probe.spans["rate"], : probe.size]
    return rate if point.generator is None else rate - point.generator.matrix


def _elements(probe: Probe, point: OperatingPoint, sides: Array) -> Apart:
    """The slopes of `_full` with their elements apart, by x."""
    opened: list[Opened] = []

    def apart(x: Array) -> Parted | None:
        if not opened:  # taken apart where that is asked for
            try:
                opened.append(Opened(probe.system))
            except AssemblyError:  # without its resistances a loop has no solution
                return None
        found = opened[0].apart(point.t, x, sides)
        if found is None or point.generator is None:
            return found
        return replace(found, plain=found.plain - point.generator.matrix)

    return apart


def _form(
    probe: Probe, point: OperatingPoint, sides: Array, jacobian: Array, space: Tangent
) -> Array:
    full = _full(probe, point, jacobian)
    if point.kind == "instant":  # on its way, the tangent space turns with it
        turns = turning(probe, space, point.t, point.x, sides)
        return np.asarray((space.chosen @ full + turns) @ space.basis)
    return np.asarray(space.reduce @ full[space.rows] @ space.basis)


def _require_inputs_outside_constraints(
    probe: Probe, jacobian: Array, inputs: tuple[Input, ...]
) -> None:
    constrained = np.vstack(
        [jacobian[probe.spans[k], probe.size :] for k in ("position", "velocity")]
    )
    for column, one in enumerate(inputs):
        if np.any(constrained[:, column] != 0.0):
            raise UsageError(
                f"{one.name} prescribes a flow that constraints follow: its rate would enter the "
                "equations. Use the effort behind it as input, or leave it out with inputs=[...]."
            )


def _require_continuous(probe: Probe, rows: Array) -> None:
    """UsageError where `rows` (on x) depend on what a sample and hold holds."""
    for name, place, period in sampled_states(probe.system):
        if np.any(rows[:, place] != 0.0):
            raise UsageError(
                f"{name} samples every {period:.6g} s: between, it answers no small deviation, so "
                "a response through it has no transfer function. For this analysis replace it by "
                f'its mean lag: kind = "delay", time = {0.5 * period:.6g}; inputs=[] gives the '
                "multipliers from sample to sample."
            )


def signal_rows(probe: Probe, jacobian: Array) -> tuple[list[str], Array]:
    """Names and rows of all scalar signals; vectors by component."""
    return signal_names(probe), jacobian[signal_places(probe)]


def signal_names(probe: Probe) -> list[str]:
    names: list[str] = []
    for signal, span in _signals(probe):
        names += component_names(signal, span.stop - span.start)
    return names


def signal_places(probe: Probe) -> NDArray[np.intp]:
    """Rows of all scalar signals in what a Probe gives."""
    places = [np.arange(span.start, span.stop) for _, span in _signals(probe)]
    return np.concatenate([np.zeros(0, dtype=np.intp), *places])


def _signals(probe: Probe) -> list[tuple[str, slice]]:
    named = ((name.removeprefix("signal "), name) for name in probe.spans)
    return [(signal, probe.spans[name]) for signal, name in named if signal != name]


def _outputs(names: list[str], wanted: Sequence[str] | None) -> list[int]:
    if wanted is None:
        found = [i for i, name in enumerate(names) if name.endswith(OBSERVED)]
        if found:
            return found
        whole = [vector_of(name) for name in names]
        return [i for i, n in enumerate(whole) if n.endswith(".position") and n.count(".") == 1]
    picked, spelled = [], spellings(names)
    for one in wanted:
        hits = [i for i, name in enumerate(names) if one in spelled[name]]
        if not hits:
            raise UsageError(f"there is no signal {one!r} to observe; `vbg run` lists them.")
        picked += hits
    return picked
