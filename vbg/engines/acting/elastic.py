"""Elastic hinges: forces of six coordinates between frames of two bodies, bushings and elements of
beams, worked out from rotation vectors and their Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from vbg.engines.acting.sums import Act, Acting, Moving
from vbg.engines.machine import written_axes
from vbg.engines.pose import Array, skew
from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The second end as the first body sees it, in that body's axes: p from end to end, u the
    rotation vector of the turn since the written posture; v and w, velocity of the second point
    and angular velocity."""

    p: Array
    u: Array
    v: Array
    w: Array


def bushing(model: Model, part: Any, name: str) -> Act:
    """Power = force . v + moment . w.  The spring's moment belongs to u: u' = D(u) w, so it is
    D(u)ᵀ K u."""
    E = np.kron(np.eye(2), axes_of(part.between[0]))  # of the first end's frame in its body's
    K = E @ np.array(part.stiffness) @ E.T
    C = np.zeros((6, 6)) if part.damping is None else E @ np.array(part.damping) @ E.T

    def load(seen: Seen) -> tuple[Array, dict[str, Array]]:
        spring = K @ np.concatenate((seen.p, seen.u))
        spring[3:] = _rate_of_vector(seen.u).T @ spring[3:]
        return -(spring + C @ np.concatenate((seen.v, seen.w))), {}

    start = _written_turn(model, part)
    if start is None:
        raise UsageError(f"forces.{name}: the engines need both bodies' rotation written.")
    return _hinge(part, name, start, load)


def beam_element(model: Model, part: Any, name: str) -> Act:
    """The element between its ends is a clamped Timoshenko beam on rigid arms to its middle: with
    the displacement d seen from half way, d = exp(-u/2) p, the energy is 1/2 xᵀ K x of
    x = (d, u), stress E (x + damping x').  With x' = J (v, w) the effort is
    -Jᵀ K (x + damping x'): u' = D(u) w; what is half way turns with w_h = L(u/2) u'/2, L the left
    Jacobian of the rotation group, and d' = exp(-u/2) (v - w_h x p).  A section whose rotation
    is not written has the axes of the one before it without load."""
    w, x, y, z = part.rotation
    E = Rotation.from_quat([x, y, z, w]).as_matrix()
    K = np.diag(_stiffness(part))

    def load(seen: Seen) -> tuple[Array, dict[str, Array]]:
        p, u = E.T @ seen.p, E.T @ seen.u
        back = Rotation.from_rotvec(-0.5 * u).as_matrix()
        D = _rate_of_vector(u)
        J = np.zeros((6, 6))
        J[:3, :3], J[3:, 3:] = back, D
        J[:3, 3:] = back @ skew(p) @ (0.5 * _left_jacobian(0.5 * u) @ D)
        strain = np.concatenate((back @ p, u))
        rate = J @ np.concatenate((E.T @ seen.v, E.T @ seen.w))
        effort = J.T @ K @ (strain + part.damping * rate)
        signals = {"strain": strain[:3] / part.length, "curvature": strain[3:] / part.length}
        return -np.concatenate((E @ effort[:3], E @ effort[3:])), signals

    return _hinge(part, name, _written_turn(model, part) or Rotation.identity(), load)


def axes_of(end: Attachment) -> Array:
    """(3, 3) axes of the frame at an end, in its body's; the body's own without one."""
    w, x, y, z = end.rotation or (1.0, 0.0, 0.0, 0.0)
    return Rotation.from_quat([x, y, z, w]).as_matrix()


def _written_turn(model: Model, part: Any) -> Rotation | None:
    """Of the second body in the first's axes; None where one of them is not written."""
    first, second = (written_axes(model, end.body) for end in part.between)
    return None if first is None or second is None else Rotation.from_matrix(first.T @ second)


def _hinge(
    part: Any, name: str, start: Rotation, load: Callable[[Seen], tuple[Array, dict[str, Array]]]
) -> Act:
    """Force and moment on the second body at its point, and back on the first at that point;
    `start`: the turn without load; `load`: both efforts, in the first body's axes, and further
    signals."""
    first, second = part.between

    def act(t: float, bodies: Mapping[str, Moving], q: Array, v: Array, sums: Acting) -> None:
        A, B = bodies[first.body], bodies[second.body]
        p, vp, _ = A.point(np.array(first.at))
        r, vr, _ = B.point(np.array(second.at))
        u = (Rotation.from_matrix(A.R.T @ B.R) * start.inv()).as_rotvec()
        velocity = A.R.T @ (vr - vp - np.cross(A.w, r - p))
        effort, signals = load(Seen(A.R.T @ (r - p), u, velocity, A.R.T @ (B.w - A.w)))
        force, torque = A.R @ effort[:3], A.R @ effort[3:]
        sums.push(second.body, B, np.array(second.at), force, torque)
        sums.push(first.body, A, A.R.T @ (r - A.p), -force, -torque)
        signals = {"force": force, "torque": torque, **signals}
        sums.signals |= {f"{name}.{signal}": value for signal, value in signals.items()}

    return act


def _stiffness(part: Any) -> list[float]:
    """EA/l, shear and bending in series along y and z, GJ/l, EI/l about y and z."""
    l = part.length

    def series(EI: float, GA: float | None) -> float:
        shear = 0.0 if GA is None else l / GA
        return 1.0 / (shear + l**3 / (12.0 * EI))

    across = [series(part.EI_z, part.GA_y), series(part.EI_y, part.GA_z)]
    return [part.EA / l, *across, part.GJ / l, part.EI_y / l, part.EI_z / l]


def _rate_of_vector(u: Array) -> Array:
    """D(u) with u' = D(u) w, w in the axes that u counts from:
    D = 1 - skew(u)/2 + (1/t^2 - (1 + cos t)/(2 t sin t)) skew(u)^2."""
    angle = float(np.linalg.norm(u))
    S = skew(u)
    if angle < 1e-4:
        factor = 1.0 / 12.0 + angle**2 / 720.0
    else:
        factor = 1.0 / angle**2 - (1.0 + np.cos(angle)) / (2.0 * angle * np.sin(angle))
    return np.asarray(np.eye(3) - 0.5 * S + factor * S @ S)


def _left_jacobian(u: Array) -> Array:
    """L(u) with w = L(u) u': 1 + (1 - cos t)/t^2 skew(u) + (t - sin t)/t^3 skew(u)^2, by series
    below 1e-2 rad, to t^4."""
    t = float(np.linalg.norm(u))
    S = skew(u)
    if t < 1e-2:
        first, second = 0.5 - t**2 / 24.0 + t**4 / 720.0, 1.0 / 6.0 - t**2 / 120.0 + t**4 / 5040.0
    else:
        first, second = (1.0 - np.cos(t)) / t**2, (t - np.sin(t)) / t**3
    return np.asarray(np.eye(3) + first * S + second * S @ S)
