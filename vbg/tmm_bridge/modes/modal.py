"""Vibration of a model by transfer matrices: rest, frequencies, shapes, poles, responses.

The natural frequencies of chains and trees of bodies, springs and dampers about
rest, w^2 from the count of negative pivots (`small`), sharpened by inverse
iteration through the transfer equation; of loops in what their rows leave open,
and poles only with one-dimensional parts and controllers (`augmented`).  Nothing
of the bond-graph solver is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.plumbing.components import component, component_names
from vbg.tmm_bridge.formulas.timefunctions import constant
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.tables import COORDINATE_TREE, NO_INPUT
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.mechanism import Mechanism, TreeJoint
from vbg.tmm_bridge.mechanism.start import Pose, start
from vbg.tmm_bridge.modes.augmented import States, known_states, natural, resting
from vbg.tmm_bridge.modes.network.exciting import given_by, unit_input
from vbg.tmm_bridge.modes.network.linearising import coordinate_row
from vbg.tmm_bridge.modes.passing import (
    Response,
    count_below,
    eliminate,
    eliminate_beside,
    inertia_of,
    needed,
    nodes_of,
    respond,
    without_dampers,
)
from vbg.tmm_bridge.modes.posture.loads import has_followers
from vbg.tmm_bridge.modes.posture.small import Small, small_motion
from vbg.tmm_bridge.modes.posture.tree_rest import rest_of_tree
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.onedim.excited import reads_any, spelled

TRIES = 20  # values of w^2 next to a mode at which its shape is looked for
RESIDUALS = 3  # corrections of a shape, each by 1e-7 of the last one
NARROW = 1e-3  # relative width at which counting gives way to inverse iteration
SUPPORTED = 1e-14  # of the largest w^2: a smaller one is zero


@dataclass(frozen=True)
class NaturalMode:
    """w^2 [1/s^2] of the undamped mechanism (negative: it falls) and its shape by joint
    coordinate, the largest hinge displacement 1.

    hinges (n_v,) and nodes (n, 6) : the whole displacement.
    """

    square: float
    shape: dict[str, float]
    hinges: Array
    nodes: Array

    @property
    def frequency(self) -> float:
        """w [rad/s]; 0 for a motion without restoring force, NaN for one that falls."""
        return float(np.sqrt(self.square)) if self.square >= 0.0 else float("nan")


@dataclass(frozen=True)
class Vibration:
    """A mechanism linear about rest; `network` : the mechanism with its one-dimensional parts; `at`
    the states that the form is taken at, beside a kink."""

    small: Small
    y: Array
    x: Array = field(default_factory=lambda: np.zeros(0))
    network: Mechanism | None = None
    at: tuple[Array, Array] | None = None

    @property
    def states(self) -> States | None:
        """The linear equations where one-dimensional parts, controllers or loops act, else None."""
        if self.small.acting is None and self.small.closing is None:
            return None
        return self._known

    @cached_property
    def modes(self) -> tuple[NaturalMode, ...]:
        """Undamped natural modes, lowest first.  Raises UsageError where there are none: with
        one-dimensional parts or controllers."""
        if self.small.acting is not None or has_followers(self.small.mechanism):
            raise UsageError(
                f"{self.small.mechanism.model.name}: undamped modes are those of bodies and"
                " springs; circuits, oil, control and loads that turn with their bodies give poles"
                " only."
            )
        undamped = without_dampers(self.small)
        if undamped.closing is not None:
            squares, x = natural(undamped)
            return tuple(_mode(undamped, float(w2), x[:, k]) for k, w2 in enumerate(squares))
        found: list[NaturalMode] = []
        for lower, upper, multiplicity in _brackets(undamped):
            found += _sharpened(undamped, lower, upper, multiplicity)
        return tuple(sorted(found, key=lambda mode: mode.square))

    @cached_property
    def poles(self) -> Array:
        """Poles s [1/s] with dampers, one of each conjugate pair, by size."""
        values, n = self._known.poles.values, len(self.small.free)
        damped = self._known.S[n : 2 * n, n : 2 * n].any() or has_followers(self.small.mechanism)
        if self.states is None and not damped:
            swings = np.abs(values.real) < np.abs(values.imag)  # else they may flutter
            values = np.where(swings, 1j * values.imag, values)
        return values

    @property
    def known(self) -> Array:
        """What each of the `poles` is known to [1/s]."""
        return self._known.poles.known

    @cached_property
    def _known(self) -> States:
        plant = Plant(self.network or self.small.mechanism)
        y, x = self.at or (self.y, self.x)
        beside = not (np.array_equal(y, self.y) and np.array_equal(x, self.x))
        return known_states(self.small, plant, y, x, beside=beside)

    def shape(self, pole: complex) -> dict[str, complex]:
        """Complex displacement of the joint coordinates in the motion exp(pole t), velocities of
        the bodies where there are none, the largest 1: inverse iteration through the transfer
        equation D(s) x = 0 beside the pole, which leaves of other motions what the way from it
        makes of them, and x - D(near)^-1 D(pole) x, which does not (residual inverse iteration:
        A. Neumaier, SIAM J. Numer. Anal. 22, 1985)."""
        near = pole * (1.0 + 1e-7)
        if (states := self.states) is not None:
            x = states.shape(pole)
        else:
            passed = eliminate(self.small, near)
            e = np.zeros((len(self.small.M), 6, 1))
            x = np.ones((self.small.n_v, 1), dtype=complex)
            for _ in range(3):
                slope = needed(self.small, 1.01 * near, x) - needed(self.small, 0.99 * near, x)
                x = respond(self.small, passed, slope, e).hinges
                x = x / x[int(np.argmax(np.abs(x)))]
            for _ in range(RESIDUALS):
                x = x - respond(self.small, passed, needed(self.small, pole, x), e).hinges
                x = x / x[int(np.argmax(np.abs(x)))]
        shape = _shape(self.small, x, pole)
        largest = max(shape.values(), key=abs, default=1.0) or 1.0
        return {name: value / largest for name, value in shape.items()}

    def response(
        self, part: str, frequencies: Sequence[float] | Array, axis: int = 0
    ) -> dict[str, Array]:
        """Complex amplitudes of all joint coordinates, of mass centres where there are none, of
        what one-dimensional parts and controllers tell, and
        of the joints' forces in the tree (JOINT.force, (n, 3), world axes) per unit of the
        input: `part` in [forces], a torque on a joint or component `axis` of a load on a
        body, or what else is `excited` (`vibration`), at frequencies [rad/s].

        Raises UsageError for a part that is no input.
        """
        mechanism = self.small.mechanism
        still = np.zeros((self.small.n_v, 1))
        amplitudes: dict[str, list[Any]] = {name: [] for name in _told(self.small, still)}
        amplitudes |= {f"{name}.force": [] for name in mechanism.tree}
        for w in frequencies:
            s = 1j * w
            u, e = unit_input(self.small, part, axis, s)
            found = respond(self.small, eliminate(self.small, s), u, e)
            for name, value in _told(self.small, found.hinges).items():
                amplitudes[name].append(value)
            for name, carried in mechanism.tree.items():
                amplitudes[f"{name}.force"].append(joint_force(self.small, found, carried))
            for name, one in _told_by_network(self.small, found, s, part).items():
                amplitudes.setdefault(name, []).append(one)
        return {name: np.array(values) for name, values in amplitudes.items()}


@dataclass(frozen=True)
class Orthogonality:
    """What the augmented eigenvectors of the undamped modes make of inertia and stiffness.

    mass, stiffness : (m,) x_i.M x_i and x_i.K x_i, the largest hinge displacement of x_i being 1,
    so that stiffness / mass = w^2;  M, K : (m, m) x_i.M x_j over the root of mass_i mass_j, and
    x_i.K x_j over that and the larger w^2 of both, unit matrices but for rounding, K with signs of
    falling motions and zeros of free ones.
    """

    mass: Array
    stiffness: Array
    M: Array
    K: Array

    @property
    def worst(self) -> float:
        """The largest entry beside the diagonals."""
        beside = ~np.eye(len(self.mass), dtype=bool)
        both = (np.abs(self.M[beside]), np.abs(self.K[beside]))
        return float(max(one.max(initial=0.0) for one in both))


def orthogonality(found: Vibration) -> Orthogonality:
    """Of all modes, by the transfer equation read the other way: x.M and x.K are the efforts
    that the shapes need, inertia alone and stiffness alone."""
    undamped = without_dampers(found.small)
    modes = found.modes
    x = np.array([mode.hinges for mode in modes]).reshape(len(modes), -1).T
    M = x.T @ inertia_of(undamped, x)
    K = x.T @ np.real(needed(undamped, 0.0, x))
    mass, stiffness = np.diag(M).copy(), np.diag(K).copy()
    size = np.sqrt(np.outer(mass, mass))
    squares = np.abs(stiffness / mass)
    free = squares <= SUPPORTED * squares.max(initial=0.0)
    free |= np.array([mode.square == 0.0 for mode in modes], dtype=bool)
    squares[free] = stiffness[free] = 0.0
    larger = np.maximum.outer(squares, squares)
    scale = np.where(larger > 0.0, larger, 1.0) * size
    return Orthogonality(mass, stiffness, M / size, np.where(larger > 0.0, K / scale, 0.0))


def joint_force(small: Small, found: Response, carried: TreeJoint) -> Array:
    """Force amplitude (3,) on the second body: all that crosses the joint, less what parts
    exert along its slide."""
    force = found.force[carried.nodes[-1], :3, 0]
    for node in carried.nodes:
        hinge = small.hinges[node]
        if hinge.h.shape[1] != 1 or np.any(hinge.h[3:]):
            continue
        n, place = hinge.h[:3, 0], hinge.place
        turned = np.zeros(3)
        if hinge.parent >= 0:
            turned = np.cross(found.nodes[hinge.parent, 3:, 0], n)
        before = np.zeros(6)
        if hinge.parent >= 0:
            before = found.nodes[hinge.parent, :, 0]
        effort = (hinge.h.T @ found.force[node, :, 0] + hinge.g @ before)[0]  # of all parts
        force = force - effort * n - small.scratch.tau[place] * turned
    return np.asarray(-force if carried.backward else force)


def vibration(
    model: Model,
    *,
    poses: Mapping[str, Pose] | None = None,
    off: Sequence[str] = (),
    told: Mapping[str, float] = MappingProxyType({}),
    excited: Sequence[str] = (),
) -> Vibration:
    """The model linear about the rest that Newton finds next to its start, or about
    `poses`, taken as a rest, with the inputs of the [forces] in `off` at zero.  With
    one-dimensional parts rest is found next to `poses`, where they say what is `told`; with
    flexible bodies, too, of whose deflections poses say nothing.  `excited` are signals,
    quantities that parts read and sources to which `response` may add a harmonic input.

    Raises UsageError for what is no chain or tree of bodies, springs and dampers, or if
    no rest is found.
    """
    mechanism = _without_inputs(lay_out(model, excited=excited), off)
    y = start(mechanism, poses).y
    if mechanism.network is not None or len(mechanism.tables.rows) or has_followers(mechanism):
        rest = resting(mechanism, y, told)
        return Vibration(rest.small, rest.y, rest.x, mechanism, rest.at)
    if poses is not None and not mechanism.bends:
        return Vibration(small_motion(mechanism, y), y)
    return Vibration(*rest_of_tree(mechanism, y))


def _without_inputs(mechanism: Mechanism, off: Sequence[str]) -> Mechanism:
    """The mechanism with the inputs of some parts at zero."""
    t, inputs, network = mechanism.tables, list(mechanism.inputs), mechanism.network
    for name in off:
        table, row = mechanism.parts.get(name, ("", -1))
        given = {"law": t.laws[:, 2:], "load": t.loads[:, 2:]}.get(table)
        if given is None or NO_INPUT in given[row]:  # a spring has no input
            raise UsageError(f"{name} cannot be switched off here; give it the value 0 yourself.")
        taps = {} if network is None else network.taps
        if any(reads_any(mechanism.model, one, taps) for one in given_by(mechanism.model, name)):
            what = "reads what is to be excited, but there is no rest with it on"
            raise UsageError(f"{name} {what}. Excite {name} itself.")
        places = given[row]
        for place in places:
            inputs[place] = constant(0.0)
        if network is not None:
            feeds = tuple(feed for feed in network.feeds if feed[0] not in places)
            network = replace(network, feeds=feeds)
    return replace(mechanism, inputs=tuple(inputs), network=network)


def _brackets(small: Small) -> list[tuple[float, float, int]]:
    """Narrow intervals of w^2 with the number of frequencies in each."""
    n = len(small.free)
    if n == 0:
        return []
    upper = 1.0
    while count_below(small, upper) < n:
        upper *= 16.0
    while upper > 1e-12 and count_below(small, upper / 16.0) == n:
        upper /= 16.0
    lower, tiny = -SUPPORTED * upper, SUPPORTED * upper
    while count_below(small, lower):
        lower *= 16.0
    found, waiting = [], [(lower, upper, 0, n)]
    while waiting:
        a, b, below_a, below_b = waiting.pop()
        if below_a == below_b:
            continue
        if b - a <= NARROW * max(abs(a), abs(b)) or b - a <= 2.0 * tiny:
            found.append((a, b, below_b - below_a))
            continue
        middle = np.sqrt(a * b) if a > 0.0 and b > 4.0 * a else 0.5 * (a + b)
        if a < 0.0 < b:
            middle = -tiny if a < -2.0 * tiny else tiny if b > 2.0 * tiny else 0.0
        inside = count_below(small, float(middle))
        waiting += [(a, float(middle), below_a, inside), (float(middle), b, inside, below_b)]
    return found


def _sharpened(small: Small, lower: float, upper: float, multiplicity: int) -> list[NaturalMode]:
    """Inverse iteration on a block of shapes, and the quotients w^2 = x.Kx / x.Mx in it, of an
    interval of w^2.  Next to zero it begins below: there K - w^2 M of free motions is singular."""
    guess = lower if lower < 0.0 < upper else 0.5 * (lower + upper) * (1.0 + 1e-7)
    for _ in range(TRIES):
        try:
            return _iterated(small, guess, multiplicity)
        except np.linalg.LinAlgError:  # a pivot of which rounding left nothing
            guess -= upper - lower
    raise UsageError(
        f"{small.mechanism.model.name}: the mode at w^2 = {guess:.6g} has no shape: a hinge moves"
        " that no inertia follows. Give the body behind it a mass and a moment of inertia."
    )


def _iterated(small: Small, guess: float, multiplicity: int) -> list[NaturalMode]:
    from scipy.linalg import eigh

    free = small.free
    x = np.zeros((small.n_v, multiplicity))
    x[free] = np.random.default_rng(len(free)).standard_normal((len(free), multiplicity))
    passed = eliminate_beside(small, guess)
    e = np.zeros((len(small.M), 6, multiplicity))
    values = np.zeros(multiplicity)
    for _ in range(8):
        inertia = inertia_of(small, x)
        x = np.real(respond(small, passed, inertia, e).hinges)
        x /= np.abs(x).max(axis=0)
        K, M = x.T @ np.real(needed(small, 0.0, x)), x.T @ inertia_of(small, x)
        values, combination = eigh(0.5 * (K + K.T), 0.5 * (M + M.T))
        x = x @ combination
    return [_mode(small, float(value), x[:, k]) for k, value in enumerate(values)]


def _mode(small: Small, square: float, x: Array) -> NaturalMode:
    scaled = x / x[int(np.argmax(np.abs(x)))]
    nodes = nodes_of(small, scaled[:, None])[:, :, 0]
    shape = {name: float(scaled[place]) for name, place in _named(small.mechanism).items()}
    return NaturalMode(square, shape, scaled, nodes)


def _moved(small: Small, x: Array) -> dict[str, Array]:
    """Displacement of each body's mass centre, W, and its turn, body axes, (6,), for those of
    the hinges, (n_v, 1)."""
    nodes = nodes_of(small, x)[:, :, 0]
    found = {}
    for body in small.mechanism.model.bodies:
        place = small.mechanism.bodies[body]
        R_WN = small.scratch.work[place.node, :9].reshape(3, 3)
        moved, turned = nodes[place.node, :3], nodes[place.node, 3:]
        centre = moved + np.cross(turned, R_WN @ place.p_NB)
        found[body] = np.concatenate([centre, (R_WN @ place.R_NB).T @ turned])
    return found


def _coordinates(small: Small, x: Array) -> dict[str, complex]:
    """Of all joints, those that close loops too."""
    t, nodes = small.mechanism.tables, nodes_of(small, x)
    rows = {
        f"{joint}.{key}": coordinate_row(small.scratch, t, k)
        for (joint, key), k in small.mechanism.coordinates.items()
    }
    return {name: complex(row.of(nodes, x)[0, 0]) for name, row in rows.items()}


def _told_by_network(small: Small, found: Response, s: complex, part: str) -> dict[str, complex]:
    """What circuits, oil, shafts and controllers tell per unit of the input `part`."""
    if (acting := small.acting) is None:
        return {}
    given = np.array([[float(name == spelled(part))] for name in acting.inputs]).reshape(-1, 1)
    return acting.tells(s, acting.reads.of(found.nodes, found.hinges), given)


def _told(small: Small, x: Array) -> dict[str, complex]:
    """Displacements by name: joint coordinates, mass centres where there are none."""
    return _coordinates(small, x) or {
        component(f"{body}.position", k, 3): complex(moved[k])
        for body, moved in _moved(small, x).items()
        for k in range(3)
    }


def _shape(small: Small, x: Array, pole: complex) -> dict[str, complex]:
    """Displacements by name: joint coordinates, where there are none the bodies' velocities."""
    names = [*component_names("velocity", 3), *component_names("angular_velocity", 3)]
    return _coordinates(small, x) or {
        f"{body}.{name}": pole * complex(value)
        for body, moved in _moved(small, x).items()
        for name, value in zip(names, moved, strict=True)
    }


def _named(mechanism: Mechanism) -> dict[str, int]:
    """Places in the hinge speeds of the joint coordinates that have a name."""
    return {
        f"{joint}.{key}": int(mechanism.tables.coordinates[k, 3])
        for (joint, key), k in mechanism.coordinates.items()
        if mechanism.tables.coordinates[k, 0] == COORDINATE_TREE
    }
