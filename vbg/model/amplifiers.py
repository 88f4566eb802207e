"""Op-amps that feed back on themselves faster than any store: which output has their circuit?

Of an instant the circuit is linear between the supplies: with the voltages v of the outputs

    plus - minus = T v + what sources and stores give,    v = K (plus - minus)

T [1] as currents divide while capacitors keep their voltages and inductors their currents, K the
gains.  With any lag of the outputs, lag v' = -(1 - K T) v + ..., so that a real negative eigenvalue
of 1 - K T is an output that runs off to a supply: between them is a solution that no circuit
keeps, and within them at both supplies is another, of which the past alone tells which holds.
(I. W. Sandberg, A. N. Willson, Existence and uniqueness of solutions for the equations of nonlinear
DC networks, SIAM J. Appl. Math. 22, 1972: one solution for all sources where every principal
minor of 1 - K T is positive.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import Problem
from vbg.model.model import Model
from vbg.model.text.places import spelled

Array = NDArray[np.float64]

FAST = 1e9  # of all time constants: rates at which stores keep what they have
ROUNDED = 1e-13  # a voltage that is rounding of 1 V at an output
NEGATIVE = 1e-9  # of the largest entry: an eigenvalue that is no rounding of 0
KEPT = {"capacitor": "voltage", "inductor": "current", "solenoid": "current", "dc_motor": "current"}
_READ = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
REMEDY = (
    "(1) Are plus and minus exchanged? nodes = [plus, minus, out]. (2) A comparator with "
    "hysteresis keeps its past in a store: put a resistor behind the output, a capacitor from "
    "there to gnd, and feed back from the node between them."
)


def fed_back(model: Model) -> Iterator[Problem]:
    """An error for each group of op-amps that drive one another to their supplies."""
    judged = _judged(model)
    if not judged:
        return
    gains = np.array([model.electric[name].gain for name in judged])
    told: set[str] = set()
    for closed in (False, True) if any(map(_switches, model.electric.values())) else (True,):
        loop = gains[:, None] * _fractions(model, judged, closed=closed)
        for group in _groups(loop):
            names = [judged[i] for i in group]
            values = np.linalg.eigvals(np.eye(len(group)) - loop[np.ix_(group, group)])
            off = NEGATIVE * max(1.0, float(np.abs(loop[np.ix_(group, group)]).max()))
            grows = (values.real < -off) & (np.abs(values.imag) <= off)
            if grows.any() and not told & set(names):
                told |= set(names)
                yield _problem(model, names, 1.0 - float(values.real.min()))


def _problem(model: Model, names: list[str], gain: float) -> Problem:
    path = ("electric", names[0], "nodes")
    limited = all(None not in (model.electric[n].lower, model.electric[n].upper) for n in names)
    several = f" (the loop of {', '.join(names)})" if len(names) > 1 else ""
    what = (
        f"positive feedback without a store{several}: a volt more at the output asks for "
        f"{gain:.4g} V more there, at once. "
    )
    what += (
        "At one input both supplies are outputs, and what is between them nothing keeps: nothing "
        "tells which of them holds."
        if limited
        else "The one output that fulfils this no circuit keeps: any lag has it run off."
    )
    file, line, column = model.where(path)
    return Problem("error", spelled(path), what, REMEDY, file, line, column)


def _judged(model: Model) -> list[str]:
    """Op-amps between whose inputs no voltage is that a controlled source or a raw bond gives at
    once: of such a source the slope is not known here."""
    amplifiers = [name for name, part in model.electric.items() if part.kind == "op_amp"]
    if not amplifiers:
        return []
    beside = _islands(model)
    unknown = {end.removeprefix("electric.") for b in model.bonds for end in b.split(" -> ")}
    for part in model.electric.values():
        value = {"voltage_source": "voltage", "current_source": "current"}.get(part.kind)
        if value and _follows(model, getattr(part, value), frozenset()):
            unknown.update(part.nodes)
    groups = {beside[node] for node in unknown & set(beside)}
    inputs = {name: model.electric[name].nodes[:2] for name in amplifiers}
    return [n for n in amplifiers if not any(beside.get(node) in groups for node in inputs[n])]


def _islands(model: Model) -> dict[str, str]:
    """node -> a node that stands for all that parts join with it but through gnd."""
    beside: dict[str, str] = {}

    def top(node: str) -> str:
        while beside.setdefault(node, node) != node:
            node = beside[node]
        return node

    for part in model.electric.values():
        joined = [
            n for n in (part.nodes[2:] if part.kind == "op_amp" else part.nodes) if n != "gnd"
        ]
        for node in joined:
            beside[top(node)] = top(joined[0])
    return {node: top(node) for node in list(beside)}


def _follows(model: Model, value: Any, met: frozenset[str]) -> bool:
    """Whether a value may change at once with voltages and currents of the circuit."""
    return any(_is_led(model, name, met) for text in _texts(value) for name in _READ.findall(text))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for entry in value.values() for text in _texts(entry))
    elif isinstance(value, Iterable) and not isinstance(value, np.ndarray):
        yield from (text for entry in value for text in _texts(entry))


def _is_led(model: Model, name: str, met: frozenset[str]) -> bool:
    if name in met:
        return False
    if name in model.signals:
        signal = model.signals[name]
        own = [getattr(signal, entry.name) for entry in fields(signal)]
        return _follows(model, own, met | {name})
    first, _, quantity = name.partition(".")
    if first in model.electric and quantity:
        part = model.electric[first]
        keeps = KEPT.get(part.kind) == quantity
        return not keeps or (part.kind == "dc_motor" and not part.L)
    return first in ("electric", *model.fmu) and bool(quantity)


def _switches(part: Any) -> bool:
    """Whether it is a switch that may open and close."""
    return part.kind == "switch" and not isinstance(part.closed, (int, float))


@dataclass(slots=True)
class _Net:
    """Equations of an instant: currents into nodes, then voltages across branches."""

    nodes: dict[str, int] = field(default_factory=dict)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    branches: int = 0

    def conduct(self, nodes: tuple[str, ...], by: tuple[str, ...], slope: float) -> None:
        """A current slope (difference `by`) from the first through it to the second of `nodes`."""
        for node, sign in zip(nodes, (1.0, -1.0), strict=True):
            for other, way in zip(by, (1.0, -1.0), strict=True):
                if "gnd" not in (node, other):
                    self.entries.append((self.nodes[node], self.nodes[other], sign * way * slope))

    def branch(self, nodes: tuple[str, ...], impedance: float = 0.0) -> int:
        """Its row and column: difference of the nodes - impedance current = what it is given."""
        row = len(self.nodes) + self.branches
        self.branches += 1
        self.entries.append((row, row, -impedance))
        for node, sign in zip(nodes, (1.0, -1.0), strict=True):
            if node != "gnd":
                self.entries += [(row, self.nodes[node], sign), (self.nodes[node], row, sign)]
        return row

    def transform(self, nodes: tuple[str, ...], ratio: float) -> None:
        """v1 = ratio v2, current out of the secondary = ratio times the one into the primary."""
        row = self.branch(nodes[:2])
        for node, sign in zip(nodes[2:], (1.0, -1.0), strict=True):
            if node != "gnd":
                place = self.nodes[node]
                self.entries += [(row, place, -sign * ratio), (place, row, -sign * ratio)]


def _fractions(model: Model, judged: list[str], *, closed: bool) -> Array:
    """T (n, n): what plus - minus of each op-amp gets of 1 V more at the output of each; zeros
    where the circuit has no solution, of which others tell."""
    parts = model.electric
    named = dict.fromkeys(node for part in parts.values() for node in part.nodes if node != "gnd")
    net = _Net({node: i for i, node in enumerate(named)})
    fast = _rate(parts.values())
    outputs = {}
    for name, part in parts.items():
        if part.kind == "op_amp":
            outputs[name] = net.branch((part.nodes[2], "gnd"))
        else:
            _enter(net, part, fast, closed=closed)
    size = len(net.nodes) + net.branches
    matrix, given = np.zeros((size, size)), np.zeros((size, len(judged)))
    for i, j, value in net.entries:
        matrix[i, j] += value
    given[[outputs[name] for name in judged], range(len(judged))] = 1.0
    try:
        found = np.linalg.solve(matrix, given)
    except np.linalg.LinAlgError:
        return np.zeros((len(judged), len(judged)))
    levels = {node: found[i] for node, i in net.nodes.items()} | {"gnd": np.zeros(len(judged))}
    ends = [parts[name].nodes for name in judged]
    T = np.array([levels[plus] - levels[minus] for plus, minus, _ in ends])
    return np.where(np.abs(T) > ROUNDED, T, 0.0)


def _enter(net: _Net, part: Any, fast: float, *, closed: bool) -> None:
    """The law of an instant of a part that is no op-amp; a current source has none."""
    nodes = part.nodes
    match part.kind:
        case "voltage_source":
            net.branch(nodes)
        case "capacitor":
            net.branch(nodes, 1.0 / (fast * part.C))
        case "transformer":
            net.transform(nodes, part.ratio)
        case "gyrator":
            net.conduct(nodes[:2], nodes[2:], 1.0 / part.r)
            net.conduct(nodes[2:], nodes[:2], -1.0 / part.r)
        case _ if inductance := _inductance(part):
            net.conduct(nodes, nodes, 1.0 / (fast * inductance))
        case "switch":
            shut = closed if _switches(part) else part.closed > 0
            net.conduct(nodes, nodes, 1.0 / part.Ron if shut else part.Goff)
        case _ if slope := _conductance(part):
            net.conduct(nodes, nodes, slope)


def _inductance(part: Any) -> float:
    """[H], 0 of what has none."""
    match part.kind:
        case "inductor" | "dc_motor":
            return float(part.L)
        case "solenoid":
            return float(part.stray + part.L0)
    return 0.0


def _conductance(part: Any) -> float:
    """[S] at rest, a diode's where it carries nothing; 0 of what has none."""
    match part.kind:
        case "resistor" | "dc_motor":
            return 1.0 / float(part.R)
        case "diode":
            leak = part.Is / part.Vt + (part.Gmin or 0.0)
            return float(part.Goff if part.law == "ideal" else leak)
    return 0.0


def _rate(parts: Iterable[Any]) -> float:
    """A rate [1/s] that is fast beside every time constant of the parts."""
    slopes, stores, coils = [1.0], [], []
    for part in parts:
        if part.kind == "switch":
            slopes += [1.0 / part.Ron, part.Goff]
        elif part.kind == "capacitor":
            stores.append(part.C)
        elif inductance := _inductance(part):
            coils.append(inductance)
        elif slope := _conductance(part):
            slopes.append(slope)
    rates = [max(slopes) / C for C in stores] + [1.0 / (min(slopes) * L) for L in coils]
    rates += [1.0 / np.sqrt(min(stores) * min(coils))] if stores and coils else []
    return FAST * max(rates, default=1.0)


def _groups(loop: Array) -> list[list[int]]:
    """Op-amps each of which reaches the others of its group."""
    n = len(loop)
    reach = (loop != 0.0) | np.eye(n, dtype=bool)
    for _ in range(n.bit_length()):
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    both = reach & reach.T
    return [np.flatnonzero(row).tolist() for row in np.unique(both, axis=0)]
