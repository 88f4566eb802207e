"""The published problems: a model file each, and what to compare with which digits.

Statement, data, source and tolerance of each are in tests/data/NAME.json.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import vbg
from vbg.solution import Solution

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Channel:
    """One comparison: error = |got - reference| / scale, to be below `tolerance`."""

    name: str
    got: float
    reference: float
    tolerance: float
    scale: float = 1.0

    @property
    def error(self) -> float:
        return abs(self.got - self.reference) / self.scale

    @property
    def digits(self) -> float:
        """Correct digits of the value, relative to its size (of a vector: the vector's)."""
        size = max(abs(self.reference), self.scale, 1e-300)
        return -np.log10(max(abs(self.got - self.reference) / size, 1e-16))


Channels = Iterator[Channel]


@dataclass(frozen=True, slots=True)
class Published:
    """A problem: its model file and the comparison of a solution of it with the data."""

    name: str
    model: Path
    compare: Callable[[Solution, dict], Channels]

    def data(self) -> dict:
        return json.loads((ROOT / "tests/data" / f"{self.name}.json").read_text("utf-8"))

    def solve(self, solver: str = "vbg") -> Solution:
        """The solution by either solver with the settings of the model file."""
        model = vbg.read(self.model)
        plan = model.simulate
        settings = {
            "t_end": plan.t_end,
            "output_step": plan.output_step,
            "rtol": plan.rtol,
            "atol": plan.atol,
        }
        if solver == "mstmm":
            return vbg.tmm_bridge.simulate(model, **settings)
        return vbg.simulate(vbg.assemble(model), method=plan.method, **settings)

    def channels(self, solution: Solution) -> list[Channel]:
        return list(self.compare(solution, self.data()))


def at(solution: Solution, name: str, t: float) -> np.ndarray:
    """The signal at the output instant t."""
    row = int(np.argmin(np.abs(solution.time - t)))
    if abs(solution.time[row] - t) > 1e-9:
        raise ValueError(f"the output grid misses t = {t}: nearest is {solution.time[row]}")
    return solution[name][row]


def vector(name: str, got: np.ndarray, reference: list[float], tolerance: float) -> Channels:
    for k, (value, expected) in enumerate(zip(got, reference, strict=True)):
        yield Channel(f"{name}[{k}]", float(value), expected, tolerance)


def relative(name: str, got: float, reference: float, tolerance: float) -> Channel:
    return Channel(name, float(got), reference, tolerance, scale=abs(reference))


def simple_pendulum(solution: Solution, data: dict) -> Channels:
    reference = data["reference"]
    for t, x, y in zip(reference["t"], reference["x"], reference["y"], strict=True):
        got = at(solution, "mass.position", t)[:2]
        yield from vector(f"position({t})", got, [x, y], data["tolerance"])


def double_four_bar(solution: Solution, data: dict) -> Channels:
    reference = data["reference"]
    position = solution["V0.top.position"]
    for t, expected in {**reference["own_other"], "10": reference["B0_own"]}.items():
        got = position[int(np.argmin(np.abs(solution.time - float(t))))][:2]
        yield from vector(f"B0({t})", got, expected, data["tolerance"])
    last = len(solution.time) - 1
    velocity = 2.0 * solution["V0.velocity"][last, :2]
    yield from vector("vB0(10)", velocity, reference["vB0_own"], data["tolerance"])
    yield from vector("B0(10) published", position[last, :2], reference["B0_published"], 2e-6)
    yield from vector("vB0(10) published", velocity, reference["vB0_published"], 2e-6)
    coarse = np.array(reference["coarser"]["2.5e-4"])  # twice the published step, order 2
    fine = np.array([*reference["B0_published"], *reference["vB0_published"]])
    got = np.concatenate([position[last, :2], velocity])
    limit = fine + (fine - coarse) / 3.0
    yield from vector("B0, vB0(10) extrapolated to step zero", got, list(limit), 1e-7)


def tilted_revolute(solution: Solution, data: dict) -> Channels:
    """The reference's reactions act on ground: minus what ground exerts on the body."""
    tolerance = data["tolerance"]
    for t, row in data["reference"].items():
        position = at(solution, "pendulum.position", float(t))
        yield from vector(f"position({t})", position, row["pos"], tolerance["pos"])
        force = -at(solution, "J.force", float(t))
        yield from vector(f"force({t})", force, row["F"], tolerance["F"])
        torque = -at(solution, "J.torque", float(t))
        yield from vector(f"torque({t})", torque, row["T"], tolerance["T"])


ANDREWS_ANGLES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


def squeezer(solution: Solution, data: dict) -> Channels:
    """The test set's multipliers are the forces of K2 on K3, K4, K6 at E.

    Accelerations of the angles do not appear among the signals; those of two mass centres do,
    and follow from the reference's q, q', q'' (statement of the data file).
    """
    reference, tolerance = data["reference"], data["tolerance"]
    for k, name in enumerate(ANDREWS_ANGLES):
        angle, speed = solution[f"{name}.angle"][-1], solution[f"{name}.speed"][-1]
        yield relative(name, angle, reference["q"][k], tolerance["q"])
        yield relative(f"{name}'", speed, reference["qd"][k], tolerance["qd"])
    forces = np.concatenate([solution[f"{name}.force"][-1, :2] for name in ("E3", "E4", "E6")])
    for k, force in enumerate(forces):
        yield relative(f"lambda[{k}]", force, reference["lam"][k], tolerance["lam"])
    start = data["initial"]
    for row, values, bodies in ((-1, reference, ("K1", "K3", "K5", "K7")), (0, start, ("K1",))):
        for body, expected in _squeezer_accelerations(data["parameters"], values).items():
            if body not in bodies:  # at the start only beta and Theta are accelerated
                continue
            got = solution[f"{body}.acceleration"][row, :2]
            size = float(np.linalg.norm(expected))
            for k in range(2):
                name = f"{body}''[{k}] in row {row}"
                yield Channel(name, float(got[k]), float(expected[k]), tolerance["qdd"], size)
    lam = solution["E3.force"][0, :2]
    for k in range(2):
        yield relative(f"lambda[{k}](0)", lam[k], float(start["lam"][k]), tolerance["lam"])


def _squeezer_accelerations(p: dict, values: dict) -> dict[str, np.ndarray]:
    """Of the mass centres that turn about fixed points: K1 (about O, angle beta), K3 (about B,
    gamma), K5 (about A, delta) and K7 (about A, epsilon).  r'' = q'' z x r - q'^2 r."""
    q, qd, qdd = (np.array([float(v) for v in values[key]]) for key in ("q", "qd", "qdd"))
    arms = {  # about the fixed point at the angle zero, and the number of the angle
        "K1": ((p["ra"], 0.0), 0),
        "K3": ((p["sb"], -p["sa"]), 2),
        "K5": ((p["ta"], p["tb"]), 4),
        "K7": ((-p["ub"], -p["ua"]), 6),
    }
    result = {}
    for body, (arm, i) in arms.items():
        c, s = np.cos(q[i]), np.sin(q[i])
        r = np.array([[c, -s], [s, c]]) @ arm
        result[body] = qdd[i] * np.array([-r[1], r[0]]) - qd[i] ** 2 * r
    return result


def heavy_top(solution: Solution, data: dict) -> Channels:
    tolerance = data["tolerance"]
    published = data["reference"]["published_5digits"]
    for t, key in ((0.15, "quat(t=0.15)"), (0.17, "quat(0.17)"), (0.2, "quat(0.2)")):
        quat = at(solution, "top.rotation", t)
        expected = np.array(published[key])
        quat = quat if quat @ expected > 0.0 else -quat
        yield from vector(key, quat, list(expected), tolerance["published"])
    for t in (0.01, 0.05):
        spin = at(solution, "top.angular_velocity", t)
        expected = published[f"omega({t})"]
        size = float(np.linalg.norm(expected))
        for k in range(3):
            name = f"omega({t})[{k}]"
            yield Channel(name, float(spin[k]), expected[k], tolerance["published"], size)
    for t, expected in data["reference"]["own_com"].items():
        position = at(solution, "top.position", float(t))
        yield from vector(f"position({t})", position, expected, tolerance["own"])


def msl_double_pendulum(solution: Solution, data: dict) -> Channels:
    for t, key in ((0.06, "t0_06"), (3.0, "t3"), (3.0, "own_t3")):
        for short, signal in (
            ("phi1", "revolute1.angle"),
            ("w1", "revolute1.speed"),
            ("phi2", "revolute2.angle"),
            ("w2", "revolute2.speed"),
        ):
            expected = data["reference"][key][short]
            got = float(at(solution, signal, t))
            yield Channel(f"{short}({key})", got, expected, data["tolerance"])


def msl_fourbar1(solution: Solution, data: dict) -> Channels:
    reference, tolerance = data["reference"], data["tolerance"]
    for signal, key in (("j1.angle", "j1_phi"), ("j1.speed", "j1_w")):
        for t, expected in reference[key].items():
            early = float(t) < 0.3
            limit = tolerance["published_first_0_3s" if early else "published_5s"]
            got = float(at(solution, signal, float(t)))
            yield Channel(f"{key}({t}) published", got, expected, limit)
    own = reference["own"]
    for t, expected in own["phi_mod_2pi"].items():
        got = float(at(solution, "j1.angle", float(t))) % (2.0 * np.pi)
        yield Channel(f"phi({t})", got, expected, tolerance["own"])
    for t, expected in own["w"].items():
        got = float(at(solution, "j1.speed", float(t)))
        yield Channel(f"w({t})", got, expected, tolerance["own"])
    total = solution["energy.kinetic"] + solution["energy.potential"]
    yield relative("energy", total[-1], own["energy"], tolerance["own"])


def last_row(solution: Solution, data: dict) -> Channels:
    """Signals by their names at the end, each beside the largest of its unit among them."""
    reference = data["reference"]
    units = [name.partition(".")[2].partition(".")[0] for name in reference]
    largest = {
        unit: max(abs(v) for v, u in zip(reference.values(), units, strict=True) if u == unit)
        for unit in units
    }
    for (name, expected), unit in zip(reference.items(), units, strict=True):
        got = float(solution[name][-1])
        yield Channel(name, got, expected, data["tolerance"], largest[unit])


def car_axis(solution: Solution, data: dict) -> Channels:
    upright, bar = data["lambda"]
    yield from last_row(solution, data)
    force = float(np.linalg.norm(solution["wheel.force"][-1]))
    yield relative("lambda_1", force, abs(upright), data["tolerance"])
    apart = solution["right.position"][-1, 0] - solution["left.position"][-1, 0]
    yield relative("lambda_2", solution["bar.force"][-1, 0], 2.0 * bar * apart, data["tolerance"])


HERE = ROOT / "tests/published"
EXAMPLES = ROOT / "examples"

PROBLEMS = {
    problem.name: problem
    for problem in (
        Published("a01_simple_pendulum", HERE / "a01_simple_pendulum.toml", simple_pendulum),
        Published("a02_double_four_bar", HERE / "a02_double_four_bar.toml", double_four_bar),
        Published("adams_revolute_tilted", HERE / "adams_revolute_tilted.toml", tilted_revolute),
        Published("andrews_squeezer", EXAMPLES / "andrews-squeezer.toml", squeezer),
        Published("car_axis", HERE / "car_axis.toml", car_axis),
        Published("heavy_top", EXAMPLES / "heavy-top.toml", heavy_top),
        Published("msl_double_pendulum", HERE / "msl_double_pendulum.toml", msl_double_pendulum),
        Published("msl_fourbar1", HERE / "msl_fourbar1.toml", msl_fourbar1),
        Published("pleiades", HERE / "pleiades.toml", last_row),
        Published("ring_modulator", HERE / "ring_modulator.toml", last_row),
    )
}
