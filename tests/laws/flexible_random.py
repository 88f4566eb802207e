"""Machines with flexible bodies at random: meshes, points, modes, what holds them, and scales."""

import numpy as np

import vbg
from tests.laws.meshes import frame, lattice

KINDS = ("free", "clamped", "middle", "ball", "hinged", "two", "both ends", "bushing", "beam")


def plain(v):
    return [float(x) for x in v]


def direction(random):
    v = random.normal(size=3)
    return plain(v / np.linalg.norm(v))


def rescaled(mesh, length, mass, time):
    """The mesh in units of length, mass and time that are so much larger."""
    M, K, X = mesh
    turns = len(M) // len(X) - 3
    S = np.tile(np.r_[np.ones(3), np.full(turns, length)], len(X))
    S = np.outer(S, S)
    return mass * S * M, mass / time**2 * S * K, length * X


def turned(mesh, random):
    """The mesh in other axes."""
    M, K, X = mesh
    R = np.linalg.qr(random.normal(size=(3, 3)))[0]
    R *= np.sign(np.linalg.det(R))
    B = np.kron(np.eye(len(M) // 3), R)
    return B @ M @ B.T, B @ K @ B.T, X @ R.T


def flexible(random, scales, middle=False):
    """A body at random, and the way from its point A to its point B."""
    if random.random() < 0.5:
        n = int(random.integers(3, 6))
        mesh, points = frame(n, random.uniform(0.6, 1.5)), {"A": [0], "B": [n]}
        points |= {"C": [n // 2]} if middle else {}
    else:
        n = int(random.integers(3, 6))
        mesh, last = lattice(n, int(random.integers(100))), 4 * n - 4
        points = {"A": [0, 1, 2, 3], "B": [last, last + 1, last + 2, last + 3]}
        points |= {"C": [4, 5, 6, 7]} if middle else {}
    M, K, X = rescaled(turned(mesh, random), *scales)
    inner = len(M) - sum(map(len, points.values())) * len(M) // len(X)
    body = {
        "M": M.tolist(),
        "K": K.tolist(),
        "nodes": X.tolist(),
        "points": points,
        "modes": int(random.integers(0, min(inner, 6) + 1)),
        "damping": float(random.choice([0.0, 0.01, 0.1])),
    }
    return {"flexible": body}, X[points["B"]].mean(axis=0) - X[points["A"]].mean(axis=0)


def rigid(random, scales):
    length, mass, _ = scales
    m = mass * random.uniform(0.5, 5.0)
    J = m * (0.2 * length) ** 2 * random.uniform(1.0, 1.3, 3)
    at = 0.2 * length * random.normal(size=3)
    return {
        "mass": m,
        "inertia": dict(zip(("xx", "yy", "zz"), plain(J))),
        "points": {"P": plain(at)},
    }


def machine(kind, seed, scales=(1.0, 1.0, 1.0)):
    """What of KINDS the arm is part of, pushed at its far end, in weight."""
    random = np.random.default_rng(seed)
    length, mass, time = scales
    arm, span = flexible(random, scales, middle=kind == "middle")
    bodies, joints, forces, beams, end = {"arm": arm}, {}, {}, {}, "arm.B"

    def held(name, joint, between, **more):
        joints[name] = {"kind": joint, "between": between, **more}

    if kind == "free":
        arm["velocity"] = plain(length / time * random.normal(size=3))
        arm["angular_velocity"] = plain(3.0 / time * random.normal(size=3))
    elif kind in ("clamped", "middle", "both ends"):
        held("j", "fixed", ["ground", "arm.A"])
        end = "arm.C" if kind == "middle" else end
    elif kind == "ball":
        held("j", "spherical", ["ground", "arm.A"])
        held("k", "universal", ["arm.B", "load.P"], axis=[1, 0, 0], axis2=[0, 1, 0])
        bodies["load"] = rigid(random, scales)
    elif kind == "hinged":
        held("j", "revolute", ["ground", "arm.A"], axis=direction(random))
        joints["j"]["initial"] = {"speed": 1.0 / time}
        held("k", "revolute", ["arm.B", "load.P"], axis=direction(random))
        bodies["load"] = rigid(random, scales)
    elif kind == "two":
        bodies["fore"], end = flexible(random, scales)[0], "fore.B"
        drive = f"0.3*sin(3*t/{time})"
        held("j", "revolute", ["ground", "arm.A"], axis=direction(random), drive=drive)
        held("k", str(random.choice(["fixed", "spherical"])), ["arm.B", "fore.A"])
    if kind == "both ends":
        held("k", "spherical", [{"body": "ground", "at": plain(span)}, "arm.B"])
        end = ""
    elif kind == "bushing":
        stiff = mass / time**2 * np.r_[np.full(3, 1e4), np.full(3, 1e3 * length**2)]
        forces["hold"] = {
            "kind": "bushing",
            "between": ["ground", "arm.A"],
            "stiffness": plain(stiff),
            "damping": plain(1e-2 * time * stiff),
        }
    elif kind == "beam":
        held("j", "revolute", ["ground", "arm.A"], axis=direction(random))
        EI = 50.0 * mass * length**3 / time**2
        beams["tail"] = {
            "between": ["arm.B", "free"],
            "length": length,
            "axis": direction(random),
            "elements": 2,
            "EA": 100 * EI / length**2,
            "GJ": EI,
            "EI_y": EI,
            "EI_z": 1.2 * EI,
            "mass_per_length": mass / length,
            "rotary_inertia": plain(mass * length * np.array([0.02, 0.01, 0.01])),
        }
        end = "tail.B"
    if end:
        push = 5.0 * mass * length / time**2 * random.normal(size=3)
        law = [f"{x}*sin(20*t/{time})" for x in push]
        forces["push"] = {"kind": "force", "on": end, "force": law}
    return vbg.Model(
        name=kind,
        gravity=[0.0, 0.0, -9.81 * length / time**2],
        bodies=bodies,
        joints=joints,
        forces=forces,
        **({"beams": beams} if beams else {}),
    )


def modes_of(model):
    """Frequencies of all flexible bodies [rad/s]."""
    found = (b.flexible for b in model.bodies.values())
    return np.concatenate([f.modes.frequencies for f in found if f is not None])


def parallelogram(gap=0.0, speed=None, scales=(1.0, 1.0, 1.0)):
    """Two rigid cranks of different lengths and a flexible coupler in a plane, the ground's second
    bearing `gap` away from where they are as written; everything else is in its place."""
    length, mass, time = scales
    M, K, X = rescaled(frame(4, 1.0), *scales)
    coupler = {"M": M.tolist(), "K": K.tolist(), "nodes": X.tolist(), "modes": 2}
    half = 0.15 * length

    def crank(z):
        J = mass * half**2
        points = {"O": [0, 0, -z], "P": [0, 0, z]}
        return {"mass": mass, "inertia": {"xx": J, "yy": J, "zz": J}, "points": points}

    def hinge(between, **more):
        return {"kind": "revolute", "between": between, "axis": [0, 1, 0], **more}

    far = [length + gap, 0.0, -half]
    initial = {} if speed is None else {"initial": {"angle": 0.0, "speed": speed / time}}
    return vbg.Model(
        name="four-bar",
        gravity=[0, 0, -9.81 * length / time**2],
        bodies={
            "one": crank(half),
            "coupler": {"flexible": coupler | {"points": {"A": [0], "B": [4]}}},
            "other": crank(1.5 * half),
        },
        joints={
            "a": hinge(["ground", "one.O"], **initial),
            "b": hinge(["one.P", "coupler.A"]),
            "c": hinge(["coupler.B", "other.P"]),
            "d": hinge([{"body": "ground", "at": far}, "other.O"]),
        },
    )
