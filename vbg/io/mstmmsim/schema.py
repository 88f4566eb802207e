"""What a parameter file of MSTMMSim may hold: every element, in its place.

The paper prints one file and no grammar; this is the grammar of that file and of the
other hinges it names, with MBDyn's meaning, from which the format borrows
(mstmmsim.txt, "Parameter definition file").  Tag names are compared in lower case
without spaces and underscores: ``<initial time>`` is `initialtime`.
"""

from __future__ import annotations

from collections.abc import Mapping

ONE, OPTIONAL, MANY = "one", "at most one", "any number"

KINDS: Mapping[str, str] = {
    "revolutepin": "revolute",
    "revolutehinge": "revolute",
    "axialrotation": "revolute",
    "sphericalpin": "spherical",
    "sphericalhinge": "spherical",
    "ballandsocket": "spherical",
    "prismatic": "prismatic",
    "prismaticpin": "prismatic",
    "inline": "point_on_line",
    "inplane": "point_on_plane",
    "clamp": "fixed",
    "universalpin": "universal",
    "universalhinge": "universal",
    "cardanopin": "universal",
    "cardanohinge": "universal",
}
"""Joints of the format and the kinds of joint that they are."""

WRITTEN: Mapping[str, str] = {
    "revolute": "revolutehinge",
    "spherical": "sphericalhinge",
    "prismatic": "prismatic",
    "point_on_line": "inline",
    "point_on_plane": "inplane",
    "fixed": "clamp",
    "universal": "universalhinge",
}

ONE_NODE = (
    "relativeoffset",
    "relativeaxisorientation",
    "absoluteoffset",
    "absoluteaxisorientation",
)
_JOINT = {
    "name": ONE,
    "node": OPTIONAL,
    **dict.fromkeys(ONE_NODE, OPTIONAL),
    "node1": OPTIONAL,
    "node2": OPTIONAL,
}
_END = {"name": ONE, "relativeoffset": OPTIONAL, "relativeaxisorientation": OPTIONAL}

SCHEMA: Mapping[str, Mapping[str, str]] = {
    "": {"model": ONE},
    "model": {
        "modelname": OPTIONAL,
        "initialvalue": OPTIONAL,
        "controldata": OPTIONAL,
        "parameters": OPTIONAL,
        "nodes": ONE,
        "elements": ONE,
    },
    "modelname": {"name": OPTIONAL, "path": OPTIONAL},
    "initialvalue": {"initialtime": OPTIONAL, "finaltime": OPTIONAL, "timestep": OPTIONAL},
    "controldata": {
        "structuralnodes": OPTIONAL,
        "rigidbodies": OPTIONAL,
        "joints": OPTIONAL,
        "gravity": OPTIONAL,
    },
    "parameters": {"parameter": MANY},
    "parameter": {"name": ONE, "type": OPTIONAL, "value": ONE},
    "nodes": {"structural": MANY},
    "structural": {
        "name": ONE,
        "type": OPTIONAL,
        "absoluteposition": OPTIONAL,
        "absoluteorientation": OPTIONAL,
        "absolutevelocity": OPTIONAL,
        "absoluteangularvelocity": OPTIONAL,
    },
    "elements": {"bodies": OPTIONAL, "joints": OPTIONAL},
    "bodies": {"body": MANY},
    "body": {
        "name": ONE,
        "node": ONE,
        "mass": ONE,
        "relativecentermass": OPTIONAL,
        "inertiamatrix": ONE,
    },
    "joints": dict.fromkeys(KINDS, MANY),
    **dict.fromkeys(KINDS, _JOINT),
    "axialrotation": {**_JOINT, "angularvelocity": ONE},
    "node1": _END,
    "node2": _END,
}
"""Container -> what may stand in it and how often.  Other elements hold text only."""


def children_of(tag: str, parent: str) -> Mapping[str, str]:
    """What may stand in the element `tag`, which stands in `parent`; nothing in a text.
    Two tags have two meanings: the joints of <controldata> are a number."""
    return {} if parent == "controldata" else SCHEMA.get(tag, {})
