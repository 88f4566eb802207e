"""Poses of bodies over time from another program's table, mapped to bodies by their names.

One header line, the time first, then for every body columns NAME.KEY (also NAME_KEY, NAME:KEY,
NAME/KEY), with units in brackets where they are not m and rad::

    time [ms], Crank.x [mm], Crank.y [mm], Crank.z [mm], Crank.qw, Crank.qx, Crank.qy, Crank.qz

A place is x, y, z (also px, tx, position[0]); a rotation of body axes into world axes is a
quaternion qw, qx, qy, qz (also q0 ... q3, rotation[0] ...), the nine entries r11 ... r33 of a
matrix row by row, angles roll, pitch, yaw about fixed x, y, z (also rx, ry, rz), or one angle
about z; in the plane z may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.errors import ModelError, UsageError
from vbg.io.runs import trust
from vbg.platform.text import escaped
from vbg.solution import Solution, Status

if TYPE_CHECKING:
    from vbg.model import Model

Array = NDArray[np.float64]

_KEYS = {
    **{f"{word}{axis}": axis for word in ("", "p", "t", "pos_", "position_") for axis in "xyz"},
    **{f"position.{axis}": axis for axis in "xyz"},
    **{f"position[{i}]": axis for i, axis in enumerate("xyz")},
    **{f"q{axis}": f"q{axis}" for axis in "wxyz"},
    **{f"q{i}": f"q{axis}" for i, axis in enumerate("wxyz")},
    **{f"rotation.{axis}": f"q{axis}" for axis in "wxyz"},
    **{f"rotation[{i}]": f"q{axis}" for i, axis in enumerate("wxyz")},
    **{f"r{i}{j}": f"r{i}{j}" for i in "123" for j in "123"},
    **{word: word for word in ("roll", "pitch", "yaw")},
    "rx": "roll",
    "ry": "pitch",
    "rz": "yaw",
    **dict.fromkeys(("angle", "theta", "phi"), "angle"),
}
_COLUMN = re.compile(
    rf"(?P<name>.+?)[._:/ ](?P<key>{'|'.join(map(re.escape, sorted(_KEYS, key=len)[::-1]))})",
    re.IGNORECASE,
)
_UNIT = re.compile(r"(?P<title>.*?)(\s+[\[(](?=.)|[\[(](?=\D))(?P<unit>[^\[\]()]*)[\])]")
_OTHERS = re.compile(
    r".*(?:^|[._])(velocity|acceleration|force|torque)(_F)?\.[xyz]"
)  # vectors, no places
PROBE = "origin-of-axes"  # a point that stands for it
LENGTHS = ("x", "y", "z")
ANGLES = ("roll", "pitch", "yaw", "angle")

Columns = dict[str, dict[str, Array]]  # name in the table -> key -> values


def read_poses(
    path: str | Path, model: Model, names: Mapping[str, str] | None = None, *, origin: str = "com"
) -> Solution:
    """Positions of mass centres, rotations and positions of points of all bodies of `model`.

    `names`: body -> its name in the table where that is another one; upper and lower case
    count as one.  `origin`: what the places are of, "com" the mass centre, "axes" the origin in
    which the body's points are written.

    Raises UsageError for a table that lacks a body, a column, or is none.
    """
    time, columns = _table(Path(path))
    from_origin = _mass_centres(model) if origin == "axes" else {}
    signals: dict[str, Array] = {}
    for body, part in model.bodies.items():
        own = _own(path, body, columns, names or {})
        R = _rotations(path, own, columns[own])
        p = _places(path, own, columns[own], len(time))
        if body in from_origin:
            p = p + R @ from_origin[body]
        signals[f"{body}.position"] = p
        signals[f"{body}.rotation"] = _quaternions(R)
        for point, at in part.points.items():
            signals[f"{body}.{point}.position"] = p + R @ np.array(at, dtype=float)
    units = {name: "m" if name.endswith("position") else "1" for name in signals}
    return Solution(time, signals, units=units, status=Status("finished", f"Read from {path}."))


def _mass_centres(model: Model) -> dict[str, Array]:
    """(3,) of every body's mass centre in the axes in which its points are written: found by
    writing a point at their origin, for a resolved model knows points from the mass centre."""
    bodies = model.document.get("bodies", {})
    included = [body for body in model.bodies if body not in bodies]
    if included:
        raise UsageError(
            f"--origin axes: {included[0]} comes from an included file, whose axes are not known"
            " here. Give the places of its mass centre."
        )
    probed = {
        name: {**part, "points": {**part.get("points", {}), PROBE: [0.0, 0.0, 0.0]}}
        for name, part in bodies.items()
    }
    twin = type(model).from_document({**model.document, "bodies": probed}, model.path)
    return {name: -np.array(part.points[PROBE]) for name, part in twin.bodies.items()}


def _table(path: Path) -> tuple[Array, Columns]:
    if not path.is_file():
        raise UsageError(f"{path}: no such file.")
    try:
        trust.require_file(path, growth=8.0)
        with open(path, encoding="utf-8-sig") as file:
            titles = [escaped(cell.strip().strip('"')) for cell in file.readline().split(",")]
            numbers = np.loadtxt(file, delimiter=",", ndmin=2).reshape(-1, len(titles))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        said = escaped(" ".join(str(error).split())[:200].rstrip("."))
        raise UsageError(f"{path}: not a table of numbers under one header: {said}.") from error
    title, unit = _split(titles[0])
    if title.lower() not in ("time", "t"):
        raise UsageError(f"{path}: the first column must be the time; found '{titles[0]}'.")
    columns: Columns = {}
    for cell, values in zip(titles[1:], numbers.T[1:], strict=True):
        title, written = _split(cell)
        match = _COLUMN.fullmatch(title)
        if match is None or _OTHERS.fullmatch(title):
            continue  # speeds, forces: not of a pose
        key = _KEYS[match["key"].lower()]
        usual = "m" if key in LENGTHS else "rad" if key in ANGLES else "1"
        _require_finite(path, cell, values)
        columns.setdefault(match["name"], {})[key] = values * _factor(path, cell, written, usual)
    if len(numbers) == 0:
        raise UsageError(f"{path}: there are no rows below the header.")
    trust.require_time(path, numbers[:, 0])
    return numbers[:, 0] * _factor(path, titles[0], unit, "s"), columns


def _require_finite(path: Path, title: str, values: Array) -> None:
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        found = f"{values[odd[0]]} in row {odd[0] + 1}"
        raise UsageError(f"{path}: column '{title}' must hold finite numbers, found {found}.")


def _split(cell: str) -> tuple[str, str]:
    """A title and the unit behind it."""
    match = _UNIT.fullmatch(cell)
    return (match["title"], match["unit"].strip()) if match else (cell, "")


def _factor(path: Path, cell: str, unit: str, usual: str) -> float:
    from vbg import units

    if not unit or unit == usual:
        return 1.0
    try:
        return float(units.convert(f"1 {unit}", usual))
    except ModelError as error:
        raise UsageError(f"{path}: column '{cell}': {error}.") from None


def _own(path: str | Path, body: str, columns: Columns, names: Mapping[str, str]) -> str:
    """The name that the body has in the table."""
    wanted = names.get(body, body)
    if wanted in columns:
        return wanted
    alike = [name for name in columns if name.lower() == wanted.lower()]
    if len(alike) == 1:
        return alike[0]
    there = ", ".join(columns) or "no pose at all"
    near = get_close_matches(wanted, columns, n=1, cutoff=0.4)
    remedy = f"--map {body}={near[0] if near else 'NAME'}"
    raise UsageError(f"{path}: no columns of '{wanted}'; there are {there}. Say {remedy}.")


def _places(path: str | Path, name: str, own: Mapping[str, Array], rows: int) -> Array:
    missing = [axis for axis in "xy" if axis not in own]
    if missing:
        raise UsageError(f"{path}: '{name}' has no column {name}.{missing[0]}.")
    return np.column_stack([own["x"], own["y"], own.get("z", np.zeros(rows))])


def _rotations(path: str | Path, name: str, own: Mapping[str, Array]) -> Array:
    """(n, 3, 3) R_WB by the first way whose columns are all there."""
    matrix = [f"r{i}{j}" for i in "123" for j in "123"]
    ways: tuple[tuple[list[str], Callable[[Array], Array]], ...] = (
        (["qw", "qx", "qy", "qz"], _of_quaternions),
        (matrix, _of_matrices),
        (["roll", "pitch", "yaw"], _of_angles),
        (["angle"], lambda a: _of_angles(np.column_stack([0.0 * a, 0.0 * a, a]))),
    )
    for keys, made in ways:
        if all(key in own for key in keys):
            given = np.column_stack([own[key] for key in keys])
            found = made(given)
            _require_turns(f"{path}: the rotation of '{name}'", given, found)
            return found
    raise UsageError(
        f"{path}: '{name}' has no rotation; write {name}.qw, .qx, .qy, .qz, or .r11 ... .r33, or"
        f" .roll, .pitch, .yaw, or in the plane .angle."
    )


def _require_turns(what: str, given: Array, R: Array) -> None:
    """Raises UsageError, with its row, for what is no turn: another length, a mirror image."""
    apart = np.abs(np.einsum("nji,njk->nik", R, R) - np.eye(3)).max(axis=(1, 2))
    off = ~(apart < 1e-3)
    mirrored = ~off & (np.linalg.det(np.where(off[:, None, None], np.eye(3), R)) < 0.0)
    if off.any():
        row = int(np.argmax(off))
        length = np.linalg.norm(given[row])
        told = f"R^T R differs from 1 by {apart[row]:.2g}"
        if given.shape[1] == 4:
            told = f"the quaternion has length {length:.3g}, not 1"
        raise UsageError(f"{what} is none in row {row + 1}: {told}.")
    if mirrored.any():
        raise UsageError(
            f"{what} is a mirror image in row {int(np.argmax(mirrored)) + 1}: the determinant of R "
            "is -1. Are its axes left-handed? Turn one of them round."
        )


def _of_quaternions(q: Array) -> Array:
    from scipy.spatial.transform import Rotation

    lengths = np.linalg.norm(q, axis=1)
    if not (np.abs(lengths - 1.0) < 1e-2).all():
        return np.full((len(q), 3, 3), np.nan)
    return np.asarray(Rotation.from_quat(q[:, [1, 2, 3, 0]]).as_matrix())


def _of_matrices(entries: Array) -> Array:
    return entries.reshape(-1, 3, 3)


def _of_angles(angles: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_euler("xyz", angles).as_matrix())


def _quaternions(R: Array) -> Array:
    """(n, 4) scalar first."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(R).as_quat()[:, [3, 0, 1, 2]])
