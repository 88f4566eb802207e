"""Poses, partial velocities and bias accelerations of the bodies in tree coordinates q.

    R_WB(q), p_WB(q);   v = V q',  w_B = W q',  V = dp/dq,  skew(W_k) = R^T dR/dq_k
    a = V q'' + a0,     a0 = (dV/dt) q',   alpha_B = W q'' + alpha0,   alpha0 = (dW/dt) q'

Turns about parallel axes are added before their sine is taken: the links of a plane machine
have sin(A + B), not a product of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vbg.analysis.symbolic.loops.rates import arguments_of, second_rate
from vbg.analysis.symbolic.loops.tree import GROUND, TURN, Carrier, Tree
from vbg.analysis.symbolic.rewriting.algebra import Algebra
from vbg.analysis.symbolic.rewriting.clearing import cleared
from vbg.analysis.symbolic.rewriting.sums import Sums
from vbg.assemble.matrices.products import product

Of = Callable[[str, str], Any]  # joint, name of an array of its frame -> matrix in symbols
PARALLEL = 1e-12


@dataclass(frozen=True, eq=False)
class Turned:
    """R = head Rot(axis, angle) tail: the last turn is kept apart, so that the next one about a
    parallel axis is added to it.  `axis` (3,) are numbers, `tail` a matrix without coordinates;
    `sums` multiplies out."""

    head: Any
    axis: np.ndarray
    angle: Any
    tail: Any
    sums: Sums

    @property
    def matrix(self) -> Any:
        """R, (3, 3)."""
        if self.angle == 0:
            return cleared(product(self.head, self.tail), self.sums)
        turn = rotation_about(self.axis, self.angle)
        return cleared(product(self.head, turn, self.tail), self.sums)

    def times(self, constant: Any) -> Turned:
        """R times a matrix without coordinates."""
        return replace(self, tail=cleared(product(self.tail, constant), self.sums))

    def turned(self, axis: np.ndarray, angle: Any, numbers: Mapping[Any, float]) -> Turned:
        """R Rot(axis, angle)."""
        import sympy

        tail = np.array(self.tail.xreplace(dict(numbers)).tolist(), dtype=float)
        along = float(self.axis @ (tail @ axis))
        if self.angle != 0 and abs(abs(along) - 1.0) < PARALLEL:
            sign = 1 if along > 0.0 else -1
            return replace(self, angle=self.angle + sign * angle)
        return Turned(self.matrix, axis, angle, sympy.eye(3), self.sums)


def rotation_about(axis: np.ndarray, angle: Any) -> Any:
    """Rot(axis, angle) = a a^T + c (1 - a a^T) + s skew(a)."""
    import sympy

    c, s = sympy.cos(angle), sympy.sin(angle)
    a = sympy.Matrix([number(x) for x in axis])
    x, y, z = a
    across = sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (a * a.T + c * (sympy.eye(3) - a * a.T) + s * across).applyfunc(sympy.expand)


def number(x: float) -> Any:
    """A number, whole where it is one to rounding."""
    import sympy

    near = round(x)
    return sympy.Integer(near) if abs(x - near) < 1e-14 else sympy.Float(repr(float(x)), 17)


@dataclass(frozen=True, eq=False)
class Kinematics:
    """By body: R (3, 3), p (3,), V and W (3, n), a0 and alpha0 (3,); world axes, but W and alpha0
    in body axes.  `q`, `u`: coordinates and their rates, symbols; `speeds`: sums of u by the
    symbols that stand for them in a0; `algebra`: what they were derived with."""

    q: tuple[Any, ...]
    u: tuple[Any, ...]
    R: Mapping[str, Any]
    p: Mapping[str, Any]
    V: Mapping[str, Any]
    W: Mapping[str, Any]
    a0: Mapping[str, Any]
    alpha0: Mapping[str, Any]
    speeds: Mapping[Any, Any]
    algebra: Algebra


def kinematics_of(
    tree: Tree, of: Of, leads: Mapping[str, Any], numbers: Any, algebra: Algebra
) -> Kinematics:
    """The kinematics along the tree; `of` gives frames, `leads` those of screws, `numbers` the
    values of the parameters."""
    import sympy

    q = {m.name: sympy.Symbol(m.name, real=True) for m in tree.motions}
    u = {m.name: sympy.Symbol(m.rate, real=True) for m in tree.motions}
    eye, sums = sympy.eye(3), algebra.tidy.sums
    R: dict[str, Any] = {GROUND: Turned(eye, np.array([0.0, 0.0, 1.0]), 0, eye, sums)}
    p: dict[str, Any] = {GROUND: sympy.zeros(3, 1)}
    for carrier in tree.carriers:
        R[carrier.body], p[carrier.body] = _pose(carrier, R, p, of, leads, q, numbers)
    every, rates = tuple(q.values()), tuple(u.values())
    matrices = {body: turned.matrix for body, turned in R.items()}
    V = {b: _slopes(at, every, algebra) for b, at in p.items() if b != GROUND and every}
    W = {b: _spins(m, every, algebra) for b, m in matrices.items() if b != GROUND}
    speed, slope, tidy = sympy.Matrix(rates), algebra.slope, algebra.tidy
    zero = sympy.zeros(3, 1)

    def bias(matrix: Any) -> Any:
        rate = sympy.zeros(*matrix.shape)
        for one, its in zip(every, rates, strict=True):
            rate += slope.matrix(matrix, one) * its
        return cleared(product(rate, speed).applyfunc(tidy), sums) if rates else zero

    known = arguments_of([c for at in p.values() for c in at], every, rates)

    def along(at: Any) -> Any:
        return cleared(at.applyfunc(lambda c: tidy(second_rate(c, known, slope))), sums)

    a0 = {b: along(at) for b, at in p.items() if b != GROUND and every}
    alpha0 = {b: bias(m) for b, m in W.items()}
    return Kinematics(every, rates, matrices, p, V, W, a0, alpha0, known.speeds, algebra)


def _pose(
    carrier: Carrier,
    R: Mapping[str, Turned],
    p: Mapping[str, Any],
    of: Of,
    leads: Mapping[str, Any],
    q: Mapping[str, Any],
    numbers: Any,
) -> tuple[Turned, Any]:
    """R_WB and p_WB of the body that `carrier` carries."""
    import sympy

    eye, origin = sympy.eye(3), sympy.zeros(3, 1)
    first = (of(carrier.joint, "R_AF"), of(carrier.joint, "p_AF_A")) if carrier.joint else None
    second = (of(carrier.joint, "R_BM"), of(carrier.joint, "p_BM_B")) if carrier.joint else None
    near, far = (first, second) if carrier.forward else (second, first)
    R_near, p_near = near or (eye, origin)
    R_far, p_far = far or (eye, origin)
    base = R[carrier.parent]
    at = p[carrier.parent] + product(base.matrix, p_near)
    turned = base.times(R_near)
    if carrier.absolute:  # turns count from the world, and the body's axes are theirs
        turned, R_far = R[GROUND], eye
    after = eye
    motions = carrier.motions
    if (
        carrier.joint
        and not carrier.absolute
        and any(m.axis == (0, 1, 0) and m.kind == TURN for m in motions)
    ):
        after = sympy.Matrix([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # a universal joint's Rx(-90 deg)
    if not carrier.forward:
        turned = turned.times(after.T)
        motions = motions[::-1]
    sign = 1 if carrier.forward or carrier.absolute else -1
    for motion in carrier.motions if carrier.absolute else motions:
        axis, value = np.array(motion.axis, dtype=float), sign * q[motion.name]
        if motion.kind == TURN:
            turned = turned.turned(axis, value, numbers)
        if motion.kind != TURN or motion.lead:
            along = product(turned.matrix, sympy.Matrix(motion.axis))
            at = at + (leads[carrier.joint] if motion.lead else 1) * value * along
    if carrier.forward:
        turned = turned.times(after)
    body = turned.times(R_far.T)
    at = (at - product(body.matrix, p_far)).applyfunc(base.sums.expanded)
    return body, cleared(at, base.sums)


def _slopes(p: Any, q: tuple[Any, ...], algebra: Algebra) -> Any:
    """V = dp/dq, cleared column by column: those of turns are lengths, those of slides numbers."""
    import sympy

    columns = [algebra.slope.matrix(p, one).applyfunc(algebra.tidy) for one in q]
    return sympy.Matrix.hstack(*[cleared(column, algebra.tidy.sums) for column in columns])


def _spins(R: Any, q: tuple[Any, ...], algebra: Algebra) -> Any:
    """W: the axial vector of R^T dR/dq_k in each column, body axes."""
    import sympy

    columns = []
    for one in q:
        if one not in R.free_symbols:
            columns.append(sympy.zeros(3, 1))
            continue
        S = product(R.T, algebra.slope.matrix(R, one))
        three = sympy.Matrix([S[2, 1], S[0, 2], S[1, 0]]).applyfunc(algebra.tidy)
        columns.append(cleared(three, algebra.tidy.sums))
    return sympy.Matrix.hstack(*columns) if columns else sympy.zeros(3, 0)
