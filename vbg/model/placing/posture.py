"""Finding poses and velocities that are not written, along the joints from what is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from vbg.model.model import Model
from vbg.model.placing.links import GROUND, Link, relative_pose, relative_rates, written_rotation
from vbg.spatial import Array

Axes = Mapping[str, tuple[Array, Array]]
Places = dict[str, tuple[Array, Array]]  # body -> (p_WB, R_WB)
Rates = dict[str, tuple[Array, Array]]  # body -> (v_WB, w_WB_W)
Cross = Callable[[Link, str, str], Any]  # link, known body, other body -> what is found

_LOOSE = frozenset(("planar", "point_on_line", "point_on_plane", "guide", "rolling", "distance"))


def find_places(model: Model, links: tuple[Link, ...], axes: Axes) -> Places:
    """Pose of every body: as written, otherwise across joints, otherwise at the origin."""
    places: Places = {GROUND: (np.zeros(3), np.eye(3))}
    for name, body in model.bodies.items():
        R_WB = written_rotation(model, name)
        if body.position is not None and R_WB is not None:
            places[name] = (np.array(body.position), R_WB)

    def across(link: Link, known: str, other: str) -> tuple[Array, Array]:
        R_WB = written_rotation(model, other)
        guide = _guide(neighbours, places, link, other)
        if R_WB is None and guide is not None:
            R_WB = _place_across(guide, axes[guide.name], places, other, None)[1]
        return _place_across(link, axes[link.name], places, other, R_WB)

    neighbours = _neighbours(links)
    _spread(neighbours, places, list(places), across)
    for name in model.bodies:
        if name not in places:
            R_WB = written_rotation(model, name)
            R_WB = np.eye(3) if R_WB is None else R_WB
            places[name] = (-R_WB @ _origin_of(model, name), R_WB)
            _spread(neighbours, places, [name], across)
    return places


def _origin_of(model: Model, name: str) -> Array:
    """The point that stands at the world's origin of a body that nothing places: of a beam its
    end A, of any other body its mass centre."""
    beam, _, number = name.rpartition("_")
    is_end = beam in model.beams and number == "0"
    return np.array(model.bodies[name].points["N"] if is_end else (0.0, 0.0, 0.0))


def find_rates(model: Model, links: tuple[Link, ...], axes: Axes, places: Places) -> Rates:
    """Velocity and angular velocity, W axes, of every body: as written, otherwise
    across joints, otherwise zero."""
    rates: Rates = {GROUND: (np.zeros(3), np.zeros(3))}
    for name, body in model.bodies.items():
        if body.velocity is not None and body.angular_velocity is not None:
            rates[name] = _as_written(model, places, name, np.zeros(3), np.zeros(3))

    def across(link: Link, known: str, other: str) -> tuple[Array, Array]:
        guide = _guide(neighbours, rates, link, other) or link
        w_FM = _relative_rates(guide, axes[guide.name], places)[1]
        turns_first = guide.first.body == other
        w = rates[guide.second.body][1] - w_FM if turns_first else rates[guide.first.body][1] + w_FM
        w = _angular(model, places, other, w)
        v = _speed_across(link, axes[link.name], places, rates[known], other, w)
        return _as_written(model, places, other, v, w)

    neighbours = _neighbours(links)
    _spread(neighbours, rates, list(rates), across)
    for name in model.bodies:
        if name not in rates:
            rates[name] = _as_written(model, places, name, np.zeros(3), np.zeros(3))
            _spread(neighbours, rates, [name], across)
    return rates


def _neighbours(links: tuple[Link, ...]) -> Mapping[str, list[tuple[Link, str]]]:
    """body -> its joints with the body at their other end, in the order of the file."""
    found: dict[str, list[tuple[Link, str]]] = {}
    for link in links:
        first, second = link.first.body, link.second.body
        found.setdefault(first, []).append((link, second))
        found.setdefault(second, []).append((link, first))
    return found


def _spread(
    neighbours: Mapping[str, list[tuple[Link, str]]],
    found: dict[str, Any],
    sources: list[str],
    across: Cross,
) -> None:
    """Fill `found` outwards from the `sources`: across the joints that tell most
    first, and among those the ones met first."""
    order = count()
    waiting: list[tuple[int, int, Link, str, str]] = []

    def meet(body: str) -> None:
        for link, other in neighbours.get(body, ()):
            if other not in found:
                heappush(waiting, (_vagueness(link), next(order), link, body, other))

    for body in sources:
        meet(body)
    while waiting:
        _, _, link, body, other = heappop(waiting)
        if other not in found:
            found[other] = across(link, body, other)
            meet(other)


def _vagueness(link: Link) -> int:
    """How little a joint says of where its second body is: 0 all coordinates known,
    1 an orientation open, 2 a slide open, 3 a joint that leaves more."""
    if link.kind in _LOOSE:
        return 3
    unknown = [name for name, start in link.start.items() if start is None and link.drive is None]
    if "slide" in unknown:
        return 2
    return 1 if unknown or link.kind == "spherical" else 0


def _guide(
    neighbours: Mapping[str, list[tuple[Link, str]]],
    found: Mapping[str, Any],
    link: Link,
    body: str,
) -> Link | None:
    """Where `link` leaves the orientation of `body` open, another joint from a body
    that is found which does not: a slider on a pin takes its orientation from the rail."""
    if not _turns_freely(link):
        return None
    for other_link, other in neighbours[body]:
        if other in found and not _turns_freely(other_link):
            return other_link
    return None


def _turns_freely(link: Link) -> bool:
    open_angle = any(
        name != "slide" and start is None and link.drive is None
        for name, start in link.start.items()
    )
    return open_angle or link.kind == "spherical" or link.kind in _LOOSE


def _place_across(
    link: Link, axes: tuple[Array, Array], places: Places, other: str, R_W: Array | None
) -> tuple[Array, Array]:
    """Pose of `other` from that of the body at the joint's other end; `R_W` is its
    rotation where that is known already."""
    R_AF, R_BM = axes
    p_AF_A, p_BM_B = np.array(link.first.at), np.array(link.second.at)
    p_FM_F, R_FM = relative_pose(link, R_AF, R_BM)
    R_AB = R_AF @ R_FM @ R_BM.T
    if other == link.second.body:
        p_WA, R_WA = places[link.first.body]
        R_WB = R_WA @ R_AB if R_W is None else R_W
        return p_WA + R_WA @ (p_AF_A + R_AF @ p_FM_F) - R_WB @ p_BM_B, R_WB
    p_WB, R_WB = places[link.second.body]
    R_WA = R_WB @ R_AB.T if R_W is None else R_W
    return p_WB + R_WB @ p_BM_B - R_WA @ (p_AF_A + R_AF @ p_FM_F), R_WA


def _relative_rates(link: Link, axes: tuple[Array, Array], places: Places) -> tuple[Array, Array]:
    """v_FM_W, w_FM_W : (3,) of the joint at its start speeds."""
    R_WF = places[link.first.body][1] @ axes[0]
    v_FM_F, w_FM_F = relative_rates(link, R_WF.T @ places[link.second.body][1] @ axes[1])
    return R_WF @ v_FM_F, R_WF @ w_FM_F


def _speed_across(
    link: Link,
    axes: tuple[Array, Array],
    places: Places,
    known: tuple[Array, Array],
    other: str,
    w_other: Array,
) -> Array:
    """Velocity of the mass centre of `other`, which turns with `w_other`, from the
    velocities of the body at the joint's other end:
    v_WM = v_WA + w_WA x p_AM + v_FM = v_WB + w_WB x p_BM, all in W."""
    (p_WA, _), (p_WB, R_WB) = places[link.first.body], places[link.second.body]
    v_FM_W = _relative_rates(link, axes, places)[0]
    p_BM_W = R_WB @ np.array(link.second.at)
    p_AM_W = p_WB + p_BM_W - p_WA
    v, w = known
    if other == link.second.body:
        return v + np.cross(w, p_AM_W) + v_FM_W - np.cross(w_other, p_BM_W)
    return v + np.cross(w, p_BM_W) - v_FM_W - np.cross(w_other, p_AM_W)


def _angular(model: Model, places: Places, body: str, otherwise: Array) -> Array:
    """The written angular velocity of `body`, in W, or the one given."""
    written = model.bodies[body].angular_velocity
    return otherwise if written is None else places[body][1] @ np.array(written)


def _as_written(model: Model, places: Places, body: str, v: Array, w: Array) -> tuple[Array, Array]:
    """What is written of the velocities of `body`, and for the rest those given, in W."""
    written = model.bodies[body].velocity
    return v if written is None else np.array(written), _angular(model, places, body, w)
