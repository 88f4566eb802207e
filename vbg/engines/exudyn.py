"""A tree in Exudyn (https://exudyn.readthedocs.io, wheel `exudyn`): one of its kinematic trees.

Its joints turn about or slide along one axis of their frames; an axis that lies otherwise turns the
frame.  A ball is three turns, about x, y and z in succession, from the posture that the body
has just then: there the angles a, b, c are zero and their rates the angular velocity w in the
body's axes, wherever the body has turned; for the accelerations ::

    w' = (a'', b'', c'') + (b' c', -a' c', a' b')

Loops are closed by the multipliers of `vbg.engines.running`, so what it witnesses is the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.engines.acting.sums import Moving
from vbg.engines.machine import BALL, FREE, GROUND, SLIDE, Element, Machine
from vbg.engines.pose import Array, Place, of_quaternion, triad
from vbg.engines.spans import Span, begun, rate_of, values_of
from vbg.engines.trees import Seen, Start
from vbg.errors import UsageError

SEEN = ("Position", "Velocity", "AngularVelocity", "Acceleration", "AngularAcceleration")


@dataclass(frozen=True, slots=True, eq=False)
class _Link:
    """One joint of Exudyn's: `kind` such as "RevoluteZ", at `place` in the frame of the link
    `parent` (-1: the ground)."""

    kind: str
    parent: int
    place: Place


@dataclass(slots=True)
class _Chain:
    """Links while they are laid out; where every body is, on which link; every element's kind,
    its first coordinate and its first speed."""

    links: list[_Link] = field(default_factory=list)
    bodies: dict[str, tuple[int, Place]] = field(default_factory=dict)
    elements: dict[tuple[str, int], tuple[str, int, int]] = field(default_factory=dict)
    nq: int = 0

    def put(self, kind: str, parent: int, place: Place) -> int:
        self.links.append(_Link(kind, parent, place))
        return len(self.links) - 1

    def spans(self) -> Iterator[Span]:
        for (body, k), (kind, i, j) in self.elements.items():
            yield Span(body, k, kind, i, j)


def _chain_of(machine: Machine) -> _Chain:
    chain = _Chain(bodies={GROUND: (-1, Place())})
    for branch in machine.branches:
        link, seat = chain.bodies[branch.parent]
        seat = seat @ branch.before
        for k, element in enumerate(branch.elements):
            chain.elements[branch.body, k] = element.kind, chain.nq, len(chain.links)
            chain.nq += {BALL: 4, FREE: 7}.get(element.kind, 1)
            link, seat = _laid(chain, element, link, seat)
        chain.bodies[branch.body] = link, seat @ branch.after
    return chain


def _laid(chain: _Chain, element: Element, link: int, seat: Place) -> tuple[int, Place]:
    """The element's links behind `seat` on a link; the last one, and the frame behind it there."""
    if element.kind not in (BALL, FREE):
        turned = Place(triad(element.axis))  # z along the axis
        kind = "PrismaticZ" if element.kind == SLIDE else "RevoluteZ"
        return chain.put(kind, link, seat @ turned), turned.inverse()
    slides = [f"Prismatic{axis}" for axis in "XYZ"] if element.kind == FREE else []
    for kind in (*slides, "RevoluteX", "RevoluteY", "RevoluteZ"):
        link, seat = chain.put(kind, link, seat), Place()
    return link, seat


class ExudynTree:
    """The links as a kinematic tree, the bodies' mass centres as markers and sensors on them."""

    def __init__(self, machine: Machine):
        try:
            import exudyn
            from exudyn import itemInterface as items
        except ImportError:
            raise UsageError("Exudyn is not installed: pip install 'vbg[engines]'.") from None
        if not hasattr(exudyn, "ComputeItemType"):
            raise UsageError(f"Exudyn {exudyn.__version__} is too old: 1.13.6 or newer is needed.")
        self._exu, self.version = exudyn, str(exudyn.__version__)
        self._chain = _chain_of(machine)
        self.nq, self.nv = self._chain.nq, len(self._chain.links)
        self._turned = [link.place.R for link in self._chain.links]
        self._spans = tuple(self._chain.spans())
        self._balls = [
            (span.i + (3 if span.kind == FREE else 0), span.j + (3 if span.kind == FREE else 0))
            for span in self._spans
            if span.kind in (BALL, FREE)
        ]
        if self.nv:
            self._build(items, machine)

    def _build(self, items: Any, machine: Machine) -> None:
        exu, links = self._exu, self._chain.links
        self._system = exu.SystemContainer().AddSystem()
        none = [0.0] * self.nv
        node = items.NodeGenericODE2(
            referenceCoordinates=none,
            initialCoordinates=none,
            initialCoordinates_t=none,
            numberOfODE2Coordinates=self.nv,
        )
        masses = [_together(machine, self._chain, k) for k in range(self.nv)]
        self._tree = self._system.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=self._system.AddNode(node),
                gravity=list(machine.model.gravity),
                jointTypes=[getattr(exu.JointType, link.kind) for link in links],
                linkParents=[link.parent for link in links],
                jointTransformations=exu.Matrix3DList(self._turned),
                jointOffsets=exu.Vector3DList([link.place.p for link in links]),
                linkMasses=[mass for mass, _, _ in masses],
                linkCOMs=exu.Vector3DList([centre for _, centre, _ in masses]),
                linkInertiasCOM=exu.Matrix3DList([inertia for _, _, inertia in masses]),
            )
        )
        self._seen = {
            body: self._watched(items, link, place)
            for body, (link, place) in self._chain.bodies.items()
            if link >= 0
        }
        self._system.Assemble()

    def _watched(self, items: Any, link: int, place: Place) -> tuple[Place, Any, dict[str, Any]]:
        """A body's place on its link, a marker and sensors at its mass centre."""
        kinds, at = self._exu.OutputVariableType, {"linkNumber": link, "localPosition": place.p}
        sensors = {
            what: self._system.AddSensor(
                items.SensorKinematicTree(
                    objectNumber=self._tree, outputVariableType=getattr(kinds, what), **at
                )
            )
            for what in (*SEEN, "RotationMatrix")
        }
        marker = items.MarkerKinematicTreeRigid(objectNumber=self._tree, **at)
        return place, self._system.AddMarker(marker), sensors

    def place_of(self, branch: str, element: int) -> int:
        return self._chain.elements[branch, element][2]

    def begin(self, starts: Mapping[str, tuple[Start, ...]]) -> tuple[Array, Array]:
        return begun(self._spans, starts, self.nq, self.nv)

    def rate(self, q: Array, v: Array) -> Array:
        return rate_of(self._spans, q, v)

    def values(self, q: Array) -> Array:
        return values_of(self._spans, q, self.nv)

    def _set(self, q: Array, v: Array) -> Array:
        """Bring the system there; a'', b'', c'' of every ball without angular acceleration."""
        exu, system = self._exu, self._system
        angles, bent = self.values(q), np.zeros(self.nv)
        for span in self._spans:
            if span.kind == FREE:
                angles[span.j : span.j + 3] = q[span.i : span.i + 3]
        turned = list(self._turned)
        for i, j in self._balls:
            turned[j] = turned[j] @ of_quaternion(q[i : i + 4] / np.linalg.norm(q[i : i + 4]))
            a, b, c = v[j : j + 3]
            bent[j : j + 3] = -b * c, a * c, -a * b
        if self._balls:
            system.SetObjectParameter(self._tree, "jointTransformations", exu.Matrix3DList(turned))
        state, now = system.systemData, exu.ConfigurationType.Current
        state.SetODE2Coordinates(angles, now)
        state.SetODE2Coordinates_t(v, now)
        state.SetODE2Coordinates_tt(bent, now)
        return bent

    def see(self, q: Array, v: Array) -> Seen:
        bent, item = self._set(q, v), self._exu.ComputeItemType
        ask = self._system.ComputeItem
        M = np.array(ask(self._tree, item.MassMatrix))
        h = np.array(ask(self._tree, item.ODE2LHS)) + M @ bent
        none, still = np.zeros(3), np.zeros((6, self.nv))
        bodies: dict[str, Moving] = {}
        for body, (link, place) in self._chain.bodies.items():
            if link < 0:
                bodies[body] = Moving(place.p, place.R, none, none, still, np.zeros(6))
                continue
            at, marker, sensors = self._seen[body]
            p, velocity, w, a, alpha = (self._sensed(sensors[what]) for what in SEEN)
            R = self._sensed(sensors["RotationMatrix"]).reshape(3, 3) @ at.R
            jacobian = np.vstack(
                [ask(marker, item.PositionJacobian), ask(marker, item.RotationJacobian)]
            )
            bodies[body] = Moving(p, R, velocity, w, jacobian, np.concatenate((a, alpha)))
        return Seen(M, h, bodies)

    def _sensed(self, sensor: Any) -> Array:
        return np.array(self._system.GetSensorValues(sensor), dtype=float)


def _together(machine: Machine, chain: _Chain, link: int) -> tuple[float, Array, Array]:
    """Mass, mass centre and inertia about it of all bodies on a link, in its frame."""
    own = [
        (place, *machine.masses[body])
        for body, (on, place) in chain.bodies.items()
        if on == link and body != GROUND
    ]
    mass = sum(m for _, m, _ in own)
    if not mass:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = np.asarray(sum(m * place.p for place, m, _ in own)) / mass
    inertia = np.zeros((3, 3))
    for place, m, J in own:
        d = place.p - centre
        inertia += place.R @ J @ place.R.T + m * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, centre, inertia
