"""terminalsAndIcons of FMI 3.0: each joint as one connector, and the word bond graph as icon."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import Element, SubElement

from vbg.causality import CausalGraph
from vbg.export.fmu.description import written
from vbg.export.fmu.variables import Variables

EXTENT = {"x1": "-100", "y1": "-100", "x2": "100", "y2": "100"}
MOST_BONDS = 1000
MILLIMETRES = "0.1"  # of one unit of EXTENT, as importers suggest


def describe_terminals(variables: Variables, *, icon: bool) -> bytes | None:
    """terminalsAndIcons.xml: for each joint what an importer connects of it, NAME.force.x as the
    member force.x of the terminal NAME; None where there is nothing to say."""
    root = Element("fmiTerminalsAndIcons", {"fmiVersion": "3.0"})
    if icon:
        picture = SubElement(root, "GraphicalRepresentation")
        scale = {"suggestedScalingFactorTo_mm": MILLIMETRES}
        SubElement(picture, "CoordinateSystem", EXTENT | scale)
        SubElement(picture, "Icon", EXTENT)
    seen = [v.name for v in (*variables.of("input"), *variables.of("output"))]
    terminals = Element("Terminals")
    for joint, part in variables.machine.system.model.joints.items():
        members = [name for name in seen if name.startswith(f"{joint}.")]
        if not members:
            continue
        told = {"name": joint, "matchingRule": "plug", "terminalKind": f"vbg.joint.{part.kind}"}
        place = SubElement(terminals, "Terminal", told)
        for name in members:
            member = {"variableName": name, "memberName": name.removeprefix(f"{joint}.")}
            SubElement(place, "TerminalMemberVariable", member | {"variableKind": "signal"})
    if len(terminals):
        root.append(terminals)
    return written(root) if len(root) else None


def icon_of(causal: CausalGraph) -> bytes | None:
    """The word bond graph as PNG; None without the extra `draw`, where there is no bond, and
    where there are too many for a small picture."""
    if find_spec("pygraphviz") is None or not 0 < len(causal.graph.bonds) <= MOST_BONDS:
        return None
    from vbg.draw.graph import draw_graph

    with TemporaryDirectory() as folder:
        path = Path(folder) / "icon.png"
        draw_graph(causal, path, "word")
        return path.read_bytes()
