"""Causal conflicts in the words of the part's own domain, with numbered remedies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vbg.causality.causal import CausalGraph, Conflict, Reason
from vbg.errors import Problem
from vbg.graph.bondgraph import Vertex

LONGEST = 4  # reasons of a chain that are told


@dataclass(frozen=True, slots=True)
class _Words:
    """What efforts and flows are called, and parts that let them differ or fix them."""

    effort: str
    flow: str
    separates: tuple[str, str]  # two efforts, two flows
    fixes: tuple[str, str]  # an effort, a flow


_MECHANICAL = ("a damper or spring", "a damper or spring"), ("a spring or force", "a mass or drive")
_WORDS = {
    "electric": _Words(
        "voltage",
        "current",
        ("a resistor in series", "a resistor in parallel"),
        ("a capacitor, a source or a resistor to gnd", "an inductor or a resistor in series"),
    ),
    "hydraulic": _Words(
        "pressure",
        "volume flow",
        ("an orifice in series", "an orifice or a volume beside them"),
        ("a volume, a source or an orifice to tank", "an orifice in series"),
    ),
    "translation": _Words("force", "velocity", *_MECHANICAL),
    "rotation": _Words("torque", "angular velocity", *_MECHANICAL),
}
_OTHER = _Words(
    "effort",
    "flow",
    ("a resistor R on a 1-junction", "a resistor R on a 0-junction"),
    ("a store C, a source Se or a resistor R", "a store I, a source Sf or a resistor R"),
)


def problem_of(causal: CausalGraph, conflict: Conflict) -> Problem:
    """The conflict with its two chains of reasons, and what mends it: something is given
    twice (over-causal) or by nothing (under-causal)."""
    vertex = causal.graph.vertices[conflict.vertex]
    chains = [list(_chain(causal, reason)) for reason in (conflict.first, conflict.second)]
    told = "; ".join(", because ".join(r.sentence for r in chain[:LONGEST]) for chain in chains)
    lacking = next((r.lacks for chain in chains for r in chain if r.lacks), "")
    if lacking:
        remedy = _lacking(causal.graph.vertices[lacking])
    else:
        remedy = _twice(conflict, vertex, [_root(causal, chain[-1]) for chain in chains])
    return Problem("error", vertex.part or conflict.vertex, f"{conflict.sentence}. {told}.", remedy)


def _chain(causal: CausalGraph, reason: Reason) -> Iterator[Reason]:
    """The reason, and those that it follows from, back to a source, store or law."""
    seen: set[str] = set()
    while True:
        yield reason
        bond = next(iter(reason.because), "")
        if bond in seen or bond not in causal.reasons:
            return
        seen.add(bond)
        reason = causal.reasons[bond]


def _root(causal: CausalGraph, reason: Reason) -> str:
    """The part whose source, store or law a chain of reasons begins with."""
    vertex = causal.graph.vertices.get(reason.sentence.partition(" ")[0])
    return "" if vertex is None else vertex.part or vertex.name


def _twice(conflict: Conflict, vertex: Vertex, roots: list[str]) -> str:
    words = _WORDS.get(vertex.domain, _OTHER)
    effort = "effort" in conflict.sentence
    quantity = words.effort if effort else words.flow
    between = words.separates[0 if effort else 1]
    named = all(roots) and len(set(roots)) > 1
    which = f"of {' and '.join(roots)}" if named else "of the parts that fix it"
    return (
        f"The {quantity} is fixed twice: two sources or two rigidly joined parts. (1) Remove one "
        f"{which}, or (2) put {between} between them."
    )


def _lacking(junction: Vertex) -> str:
    words = _WORDS.get(junction.domain, _OTHER)
    effort = junction.kind == "0"
    quantity, part = (words.effort, words.fixes[0]) if effort else (words.flow, words.fixes[1])
    return (
        f"Nothing fixes the {quantity} at {junction.name}: every part on it asks for it. (1) Add "
        f"{part}, or (2) remove one of the parts that ask, or (3) connect what was meant to fix it."
    )
