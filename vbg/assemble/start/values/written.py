"""Start values that were written are kept where values that nobody wrote can give way.

Stores tied to each other (a wheel and the rotor on its hinge, two volumes on one node) start
with one flow or effort.  In the energy metric |p|^2 = p^T F p, F = d co-energy / d state, an
admissible start is sought that misses the written states least, and among those the one
nearest to the guesses for the others.  With x0 admissible and P the energy-orthogonal projection
onto admissible changes it is x0 + P u,

    |S (x0 + P u) - written| least,  then |u| least,

S choosing the written states: the least-squares solution of smallest norm.  Where written states
contradict joints, S P has no more than rounding for what they forbid: singular values, cosines of
angles, below SMALLEST count as zero.  Of large machines the solution is found by LSMR (D. Fong,
M. Saunders, SIAM J. Sci. Comput. 33, 2011, 2950-2971), which needs P alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.derivation import compliance, yielding
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.system import System
from vbg.errors import Problem

Array = NDArray[np.float64]
Admit = Callable[[Array], Array]  # the admissible state nearest to a state

KEPT = 1e-13  # of the size of all written states: a smaller miss is rounding
SMALLEST = 1e-11  # cosine of an angle between written and admissible changes; below is rounding
FEW = 300  # states whose singular values are found at once
LARGEST = 1e6  # times what is missed: a change that only what rounding lets move can make
ILL_CONDITIONED = (3, 6)  # LSMR's word for a condition above the limit
ROUNDS = 6  # for laws that are not linear; one for the others
CHANGED = 0.01  # of a written value: a change that is told
_WORDS = {
    "momentum": "velocity",
    "angular_momentum": "angular velocity",
    "flux": "current",
    "charge": "voltage",
    "content": "pressure",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Store:
    """A store: its `places` in x, R with R^T R = F there and R^-1."""

    name: str
    part: str
    places: NDArray[np.intp]
    root: Array
    inverse: Array
    written: bool


def keep_written(system: System, admit: Admit, x: Array, initial: Array) -> Array:
    """The admissible state next to `x` that keeps what is written in `initial`."""
    written = {v.written for v in system.causal.graph.vertices.values() if v.is_store}
    if len(written) < 2 or not _changed(x, initial):
        return x
    stores = _stores(system, initial)
    measure = _Measure(stores, len(x))
    size = float(np.linalg.norm(measure.written(initial)))
    miss = measure.written(initial - x)
    for _ in range(ROUNDS):
        left = float(np.linalg.norm(miss))
        if left <= KEPT * size:
            break
        trial = admit(x + measure.unscaled(_least_squares(measure, admit, x, miss)))
        miss = measure.written(initial - trial)
        if not float(np.linalg.norm(miss)) < left:
            break
        x = trial
    return x


def _least_squares(measure: _Measure, admit: Admit, x: Array, miss: Array) -> Array:
    """u of least norm with |S P u - miss| least, in scaled states."""
    base = admit(x)

    def forward(u: Array) -> Array:
        return measure.written(admit(x + measure.unscaled(u)) - base)

    def backward(m: Array) -> Array:
        return measure.scaled(admit(x + measure.unscaled(measure.scattered(m))) - base)

    if measure.count > FEW:
        u = _iterated(forward, backward, miss, measure.count)
        if u is not None:
            return u
    columns = np.stack([forward(one) for one in np.eye(measure.count)], axis=1)
    left, cosines, right = np.linalg.svd(columns, full_matrices=False)
    free = cosines > SMALLEST
    return np.asarray(right[free].T @ ((left[:, free].T @ miss) / cosines[free]))


def _iterated(forward: Admit, backward: Admit, miss: Array, count: int) -> Array | None:
    """The same by LSMR; None where rounding makes S P ill-conditioned."""
    from scipy.sparse.linalg import LinearOperator, lsmr

    operator = LinearOperator((miss.size, count), matvec=forward, rmatvec=backward, dtype=float)
    limits = {"atol": 1e-15, "btol": 1e-15, "conlim": 1.0 / SMALLEST}
    u, why, *_ = lsmr(operator, miss, maxiter=20 + 2 * min(miss.size, count), **limits)
    is_small = float(np.linalg.norm(u)) <= LARGEST * float(np.linalg.norm(miss))
    return np.asarray(u) if why not in ILL_CONDITIONED and is_small else None


class _Measure:
    """States of stores in units in which the energy metric is the plain one."""

    def __init__(self, stores: tuple[_Store, ...], size: int):
        self._stores, self._size = stores, size
        sizes = [store.places.size for store in stores]
        self.count = sum(sizes)
        self._written = np.repeat([store.written for store in stores], sizes)

    def scaled(self, x: Array) -> Array:
        return np.concatenate([s.root @ x[s.places] for s in self._stores])

    def unscaled(self, u: Array) -> Array:
        """A change of the whole state."""
        change, first = np.zeros(self._size), 0
        for s in self._stores:
            change[s.places] = s.inverse @ u[first : first + s.places.size]
            first += s.places.size
        return change

    def written(self, x: Array) -> Array:
        return self.scaled(x)[self._written]

    def scattered(self, m: Array) -> Array:
        u = np.zeros(self.count)
        u[self._written] = m
        return u


def _stores(system: System, x: Array) -> tuple[_Store, ...]:
    vertices = {
        v.state.data: v for v in system.causal.graph.vertices.values() if v.state is not None
    }
    slices = [s for s in system.slices if s.state.kind == "store"]
    inputs = {s.state.name: s.state.leaf for s in system.slices} | {"t": system.equations.time}
    slopes = {s.state.name: compliance(vertices[s.state.name]) for s in slices}
    wanted = slopes | {
        f"{name} assembling": yielding(vertices[name])
        for name in slopes
        if vertices[name].assembling is not None
    }
    varying = {name: slope for name, slope in wanted.items() if not slope.is_const}
    evaluate = Evaluator(lower(varying, inputs))
    evaluate(0.0, x)

    def value(name: str, n: int) -> Array:
        slope = wanted[name]
        data = slope.data if slope.is_const else evaluate.output(name)
        return np.reshape(np.array(data), (n, n))

    found = []
    for s in slices:
        n, vertex = s.last - s.first, vertices[s.state.name]
        F = value(s.state.name, n)
        if vertex.assembling is not None:  # its projection is orthogonal in this metric
            F = F @ np.linalg.solve(value(f"{s.state.name} assembling", n), F)
            F = 0.5 * (F + F.T)
        values, axes = np.linalg.eigh(F)
        root = np.sqrt(np.maximum(values, 0.0))
        inverse = np.divide(1.0, root, out=np.zeros(n), where=root > 0.0)
        found.append(
            _Store(
                s.state.name,
                vertex.part,
                np.arange(s.first, s.last),
                root[:, None] * axes.T,
                axes * inverse,
                vertex.written,
            )
        )
    return tuple(found)


def _changed(x: Array, initial: Array) -> bool:
    return bool(np.any(np.abs(x - initial) > KEPT * np.maximum(np.abs(x), np.abs(initial))))


def not_kept(system: System, x: Array, initial: Array) -> Iterator[Problem]:
    """Written start values that the others did not let stand."""
    if not _changed(x, initial):
        return
    stores = _stores(system, initial)
    rounding = KEPT * float(np.linalg.norm(_Measure(stores, len(x)).written(initial)))
    for store in stores:
        before, after = (float(np.linalg.norm(store.root @ y[store.places])) for y in (initial, x))
        change = float(np.linalg.norm(store.root @ (x - initial)[store.places]))
        if not store.written or change <= max(CHANGED * max(before, after), rounding):
            continue
        what = _WORDS.get(store.name.rpartition(".")[2], "start value")
        percent = 100.0 * change / max(before, after)
        yield Problem(
            "warning",
            store.part,
            f"its written {what} is not kept: it changes by {percent:.3g} % to agree with joints, "
            "drives and other written values.",
            "Write values that belong together, or leave out those that follow.",
        )
