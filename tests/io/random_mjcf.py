"""Random files of MuJoCo's, written in as many ways as the format has: angles in degrees or
radians about any axes, all forms of orientation, nested classes of defaults, frames, bodies without
mass that others are welded on, masses from geoms or written; and how far what is imported moves
otherwise than in MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np

import vbg
from vbg.analysis.begin import Instant
from vbg.model import Model

EULER = ("xyx", "zyz", "xzx", "zxz", "XYZ", "zYx", "yXz", "xyz", "ZYX")
GEOMS = ("sphere", "capsule", "cylinder", "box", "ellipsoid")
BARE = ' damping="0" armature="0" stiffness="0"'
KINDS = ("hinge", "slide", "ball", "none", "free", "cardan")


class _File:
    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.degrees, self.count, self.classes = self.maybe(0.5), 0, ["main"]

    def maybe(self, part: float) -> bool:
        return bool(self.rng.random() < part)

    def name(self, letter: str) -> str:
        self.count += 1
        return f'name="{letter}{self.count}"'

    def angle(self, most: float = 1.5) -> float:
        value = float(self.rng.uniform(-most, most))
        return float(np.degrees(value)) if self.degrees else value

    def direction(self) -> str:
        return _text(self.rng.normal(size=3))

    def place(self, reach: float) -> str:
        forms = (
            "",
            f' quat="{_text(self.rng.normal(size=4))}"',
            f' axisangle="{self.direction()} {self.angle()}"',
            f' euler="{self.angle()} {self.angle()} {self.angle()}"',
            f' xyaxes="{self.direction()} {self.direction()}"',
            f' zaxis="{self.direction()}"',
        )
        pos = _text(self.rng.uniform(-reach, reach, 3))
        return f' pos="{pos}"{forms[self.rng.integers(len(forms))]}'

    def of_class(self, key: str, part: float) -> str:
        return f' {key}="{self.rng.choice(self.classes)}"' if self.maybe(part) else ""

    def geom(self) -> str:
        kind, size = self.rng.choice(GEOMS), self.rng.uniform(0.03, 0.2, 3)
        text = f'<geom {self.name("g")} type="{kind}"{self.of_class("class", 0.3)}'
        if kind != "sphere" and self.maybe(0.3):
            size = size[: 1 if kind in ("capsule", "cylinder") else 2]
            text += f' fromto="{_text(self.rng.uniform(-0.3, 0.3, 6))}"'
        else:
            text += self.place(0.2)
        mass = (f' mass="{size[0] * 9}"', f' density="{size[0] * 9000}"', "", "")
        text += mass[self.rng.integers(4)]
        shell = ' shellinertia="true"' if kind != "ellipsoid" and self.maybe(0.1) else ""
        return f'{text} size="{_text(size)}" group="{self.rng.integers(5)}"{shell}/>'

    def inertial(self) -> str:
        low, middle = sorted(self.rng.uniform(0.01, 0.03, 2))
        moments = np.array([low, middle, low + middle - 0.003])
        text = f'<inertial pos="{_text(self.rng.uniform(-0.1, 0.1, 3))}" mass="{40 * low}"'
        if self.maybe(0.5):
            angles = f"{self.angle()} {self.angle()} {self.angle()}"
            return f'{text} euler="{angles}" diaginertia="{_text(moments)}"/>'
        Q, _ = np.linalg.qr(self.rng.normal(size=(3, 3)))
        J = Q @ np.diag(moments) @ Q.T
        six = J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        return f'{text} fullinertia="{_text(six)}"/>'

    def joint(self, kind: str) -> str:
        text = f'<joint {self.name("j")} type="{kind}" pos="{_text(self.rng.normal(size=3) / 9)}"'
        if kind == "ball":
            return f"{text}{BARE}/>"
        value = (
            (lambda: self.angle(0.6)) if kind == "hinge" else lambda: self.rng.uniform(-0.2, 0.2)
        )
        given = {
            "axis": (0.9, self.direction),
            "ref": (0.4, value),
            "springref": (0.4, value),
            "stiffness": (0.4, lambda: self.rng.uniform(1.0, 30.0)),
            "damping": (0.4, lambda: self.rng.uniform(0.1, 2.0)),
            "armature": (0.3, lambda: self.rng.uniform(0.01, 0.2)),
            "springdamper": (0.1, lambda: "0.4 0.7"),
        }
        text += self.of_class("class", 0.3)
        text += "".join(f' {k}="{f()}"' for k, (part, f) in given.items() if self.maybe(part))
        return f"{text}/>"

    def joints(self, kind: str) -> str:
        if kind == "none":
            return ""
        if kind == "free":
            joint = f'<joint {self.name("j")} type="free"{BARE}/>'
            return joint if self.maybe(0.5) else f"<freejoint {self.name('j')}/>"
        if kind != "cardan":
            return self.joint(kind)
        Q, _ = np.linalg.qr(self.rng.normal(size=(3, 3)))
        return "".join(f'<joint {self.name("j")} axis="{_text(Q[:, k])}"{BARE}/>' for k in (0, 1))

    def body(self, depth: int, *, top: bool) -> str:
        kind = str(self.rng.choice(KINDS, p=(0.4, 0.15, 0.12, 0.15, 0.1, 0.08)))
        kind = "hinge" if kind == "free" and not top else kind
        gravcomp = f' gravcomp="{self.rng.uniform(0, 1.5)}"' if self.maybe(0.2) else ""
        childclass = self.of_class("childclass", 0.2)
        text = f"<body {self.name('b')}{self.place(0.6)}{childclass}{gravcomp}>"
        text += self.joints(kind)
        if self.maybe(0.15):  # it has no mass, and carries one that has
            text += f"<body {self.name('b')}{self.place(0.2)}>{self.geom()}</body>"
        else:
            text += self.inertial() if self.maybe(0.4) else ""
            text += "".join(self.geom() for _ in range(self.rng.integers(1, 4)))
        for _ in range(self.rng.integers(0, 3) if depth else 0):
            inner = self.body(depth - 1, top=False)
            text += f"<frame{self.place(0.3)}>{inner}</frame>" if self.maybe(0.25) else inner
        return f"{text}</body>"

    def default(self, depth: int, name: str = "") -> str:
        text = f'<default class="{name}">' if name else "<default>"
        text += f'<geom density="{self.rng.uniform(300, 2000)}"/>' if self.maybe(0.6) else ""
        text += f'<joint axis="{self.direction()}"' if self.maybe(0.6) else "<joint"
        text += f' damping="{self.rng.uniform(0.1, 1)}"' if self.maybe(0.4) else ""
        text += f' armature="{self.rng.uniform(0.01, 0.1)}"/>' if self.maybe(0.4) else "/>"
        for _ in range(self.rng.integers(0, 3) if depth else 0):
            self.classes.append(f"c{len(self.classes)}")
            text += self.default(depth - 1, self.classes[-1])
        return f"{text}</default>"

    def compiler(self) -> str:
        options = {
            'angle="degree"': 1.0 if self.degrees else 0.0,
            'angle="radian"': 0.0 if self.degrees else 1.0,
            f'eulerseq="{self.rng.choice(EULER)}"': 0.7,
            'inertiafromgeom="true"': 0.25,
            'balanceinertia="true"': 0.2,
            'boundmass="0.5" boundinertia="0.01"': 0.15,
            'inertiagrouprange="0 3"': 0.15,
            'fusestatic="true"': 0.15,
        }
        return f"<compiler {' '.join(o for o, part in options.items() if self.maybe(part))}/>"

    def text(self) -> str:
        compiler, default = self.compiler(), self.default(2) if self.maybe(0.7) else ""
        off = [f'{f}="disable"' for f in ("gravity", "spring", "damper") if self.maybe(0.1)]
        gravity = _text(6.0 * self.rng.normal(size=3))
        option = f'<option gravity="{gravity}"><flag {" ".join(off)}/></option>'
        bodies = "".join(
            self.body(int(self.rng.integers(0, 4)), top=True)
            for _ in range(self.rng.integers(1, 3))
        )
        return f"<mujoco>{compiler}{option}{default}<worldbody>{bodies}</worldbody></mujoco>"


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def random_mjcf(seed: int) -> str:
    """The text of a file; about one in fifty MuJoCo refuses, and some cannot move."""
    return _File(seed).text()


COORDINATES = {
    "revolute": (("angle", "speed"),),
    "prismatic": (("slide", "speed"),),
    "universal": (("angle", "speed"), ("angle2", "speed2")),
}


def state_of(own: Any, data: Any, model: Model) -> dict[str, np.ndarray]:
    """MuJoCo's state under the names of vbg's signals."""
    import mujoco

    found: dict[str, Any] = {}
    for j in range(own.njnt):
        joint = model.joints.get(own.joint(j).name)
        for k, (value, speed) in enumerate(COORDINATES.get(getattr(joint, "kind", ""), ())):
            found[f"{own.joint(j).name}.{value}"] = data.qpos[[own.jnt_qposadr[j] + k]]
            found[f"{own.joint(j).name}.{speed}"] = data.qvel[[own.jnt_dofadr[j] + k]]
    for b in _heavy(own):
        name, twist = own.body(b).name, np.zeros(6)
        mujoco.mj_objectVelocity(own, data, mujoco.mjtObj.mjOBJ_BODY, b, twist, 0)
        found[f"{name}.position"], found[f"{name}.rotation"] = data.xipos[b], data.xquat[b]
        found[f"{name}.velocity"] = twist[3:]
        found[f"{name}.angular_velocity"] = data.xmat[b].reshape(3, 3).T @ twist[:3]
    return {name: np.array(value, dtype=float) for name, value in found.items()}


def _heavy(own: Any) -> list[int]:
    return [b for b in range(1, own.nbody) if own.body_mass[b] > 0.0]


def acceleration_error(own: Any, model: Model, seed: int) -> float:
    """Largest difference of the accelerations of mass centres at a random state, constraints of
    MuJoCo's off, over the largest or 1 m/s^2."""
    import mujoco

    own.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data, rng = mujoco.MjData(own), np.random.default_rng(seed)
    mujoco.mj_integratePos(own, data.qpos, rng.uniform(-0.8, 0.8, own.nv), 1.0)
    data.qvel[:] = rng.normal(size=own.nv)
    mujoco.mj_forward(own, data)
    mujoco.mj_rnePostConstraint(own, data)
    system = vbg.assemble(model)
    start = vbg.start(system, Instant(0.0, state_of(own, data, model)))
    told = [note.what for note in start.notes if note.severity == "warning"]
    assert not told, told
    found, weightless = (
        start.outputs(0.0, start.state),
        own.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_GRAVITY),
    )
    scale = gap = 1e-300
    for b in _heavy(own):
        twist = np.zeros(6)
        mujoco.mj_objectAcceleration(own, data, mujoco.mjtObj.mjOBJ_BODY, b, twist, 0)
        right = twist[3:] + (0.0 if weightless else own.opt.gravity)  # as an accelerometer tells
        got = found[f"{own.body(b).name}.acceleration"]
        scale, gap = max(scale, np.abs(right).max()), max(gap, np.abs(got - right).max())
    return float(gap / max(scale, 1.0))
