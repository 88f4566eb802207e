"""What the command line prints of a structure: the entry points for its verbs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from vbg.structure.count.report import Structure, analyse_topology
from vbg.structure.count.results import as_data, results_matrix, table_text
from vbg.structure.routes.schedule import routes, schedule_text
from vbg.structure.routes.transform import Transformations
from vbg.structure.topology.topology import with_drives


def proposed(structure: Structure) -> Structure | None:
    """The structure with the proposed drives added; None where they do not determine it."""
    if not structure.fixes or structure.over is not None or structure.stiff:
        return None
    topology = structure.topology
    driven = [pair.driven for pair in topology.pairs]
    for drive in structure.fixes:
        driven[drive.pair] += drive.count
    found = analyse_topology(with_drives(topology, driven))
    return found if found.determined else None


def structure_text(structure: Structure, *, library: Collection[str] = (), workers: int = 0) -> str:
    """The whole report as text; with `workers`, the routes through the groups, too."""
    parts = [table_text(structure, library)]
    solved: Structure | None = structure if structure.determined else proposed(structure)
    if solved is not None and solved is not structure:
        drives = ", ".join(
            f"{drive.count} of {structure.topology.pairs[drive.pair].name}"
            for drive in structure.fixes
        )
        parts.append(f"With the drives proposed ({drives}):\n" + table_text(solved, library))
    if solved is not None and workers > 0:
        parts.append(schedule_text(solved, routes(solved, workers=workers)))
    return "\n\n".join(parts)


def structure_data(structure: Structure) -> dict[str, Any]:
    """The whole report as plain values for JSON."""
    data = as_data(structure)
    if structure.determined:
        data["results_matrix"] = results_matrix(structure).tolist()
    with_fixes = proposed(structure)
    data["with_proposed_drives"] = None if with_fixes is None else as_data(with_fixes)
    return data


def transformations_text(found: Transformations, most: int = 20) -> str:
    """The best choices of drives, one a line."""
    pairs = found.topology.pairs
    shown = found.choices[:most]
    state = "all there are" if found.complete else "those asked for, or found before it was stopped"
    lines = [
        f"{len(found.choices)} choice{'' if len(found.choices) == 1 else 's'} of drives"
        f" ({state}), best first"
    ]
    lines.append("groups  largest  in library  levels  driven")
    for choice in shown:
        score = choice.score
        names = ", ".join(
            pair.name if n == 1 else f"{n} of {pair.name}"
            for pair, n in zip(pairs, choice.driven, strict=True)
            if n
        )
        lines.append(
            f"{score.groups:6}  {score.largest:7}  {score.in_library:10}  {score.depth:6}  {names}"
        )
    if len(found.choices) > most:
        lines.append(f"... and {len(found.choices) - most} more")
    return "\n".join(lines)
