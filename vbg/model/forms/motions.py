"""Whether a coordinate turns or slides, and what is told of a part that needs the other motion."""

from __future__ import annotations

from vbg.model.catalogue import JOINT_COORDINATE
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, Scope

_MOVES = {"angle": "turns", "slide": "slides"}


def motion_of(scope: Scope, coordinate: str) -> str:
    """Whether a coordinate that was read is an "angle" or a "slide"; "" if it is not known."""
    table, _, name = coordinate.partition(".")
    if table != "joints":
        return JOINT_COORDINATE.get(table, "")
    joint, _, own = name.partition(".")
    coordinates = (own,) if own else scope.joints.get(joint, ())
    return coordinates[0].rstrip("2") if len(coordinates) == 1 else ""


def wrong_motion(reading: Reading, path: Path, what: str, wanted: str) -> None:
    """The problem of a part that stands on a coordinate of the other motion than `wanted`."""
    other = next(motion for motion in _MOVES if motion != wanted)
    table, instead = str(path[0]), next(t for t, m in JOINT_COORDINATE.items() if m == other)
    if JOINT_COORDINATE.get(table) == wanted:
        told = f"{what} {_MOVES[other]}, which parts of [{table}] do not take."
        reading.fail(path, told, f"Write the part in [{instead}].")
    else:
        told = f"{what} {_MOVES[other]}, here is needed what {_MOVES[wanted]}."
        joint = "a revolute joint" if wanted == "angle" else "a prismatic joint"
        node = next(t for t, m in JOINT_COORDINATE.items() if m == wanted)
        reading.fail(path, told, f'Write {joint}, "joints.NAME", or "{node}.NODE".')
