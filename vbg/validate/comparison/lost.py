"""Outputs that one of two solutions lacks."""

from __future__ import annotations

from vbg.model.catalogue import TABLES
from vbg.validate.comparison.connected import owner_of
from vbg.validate.comparison.pairing import lost_signals
from vbg.validate.comparison.runs import Runs


def lost_outputs(runs: Runs, replayed: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Outputs that one side has and the other has not, of joints and of parts that both sides
    solved, and the parts that only one side solved."""
    if runs.model is None:
        return (), ()
    shares = _shares(runs)
    lost = [
        n
        for n in lost_signals(runs.first, runs.second)
        if n.split(".")[0] not in replayed and n not in shares
    ]
    both = {owner_of(n) for n in set(runs.first.signals) & set(runs.second.signals)}
    owed = tuple(n for n in lost if n.split(".")[0] in runs.model.joints or owner_of(n) in both)
    once = dict.fromkeys(owner_of(n) for n in lost if n not in owed)
    return owed, tuple(once)


def not_compared(runs: Runs) -> tuple[str, ...]:
    """A note on outputs that only one of the solvers has."""
    shares, notes = _shares(runs), []
    lost = [n for n in lost_signals(runs.first, runs.second) if n not in shares]
    if lost:
        shown = ", ".join(lost[:8]) + (", ..." if len(lost) > 8 else "")
        notes.append(f"Not compared, only one of the two solvers has them: {shown}.")
    if shares:
        notes.append(
            "Not compared: NAME.energy and NAME.intake, the shares of single parts in the energies"
            " ([outputs] energy = true); the bond graph alone keeps them apart."
        )
    return tuple(notes)


def _shares(runs: Runs) -> frozenset[str]:
    """Outputs of the bond graph that divide its energies among the parts, where the file asks for
    that: it is no solution of its own, and their sum is the audit."""
    if runs.model is None or not runs.model.outputs.energy:
        return frozenset()
    parts = {n for table in TABLES if table != "signals" for n in getattr(runs.model, table)}
    names = {f"{part}.{share}" for part in parts for share in ("energy", "intake")}
    return frozenset(names.intersection(runs.first.signals).difference(runs.second.signals))
