"""Machines without a fault, judged in many ways: no FAIL may come out, and every run must end.

``python -m benchmarks.verdict.false_alarms --count 100 --seed 1`` (``--kind samples`` for one)

Kinds: `examples`, `samples` (of `vbg parts`), each as written, at rest and without gravity,
at rtol 1e-4, 1e-6, 1e-8, 1e-11; `variations`, an example with every mass, length and stiffness
multiplied at random; `mechanisms`, random trees, loops, redundant linkages, and doors on two and
three bearings on a skew axis; `starts`, the same, some with a drive, a rotor or loops that do not
close as written, with speeds of bodies and joints that mostly contradict each other.  Drawn at
random by seed; ``--every`` judges all examples and samples in every way instead.  Prints whatever
is no PASS, and the counts; each verdict is made in a forked child that may spend 200 s of
processor time: one that takes longer hangs.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import vbg
from benchmarks.robustness.forked import Stuck, forked
from vbg.errors import VbgError
from vbg.io import toml
from vbg.model.catalogue import catalogue
from vbg.model.samples import machine
from vbg.validate import validate

ROOT = Path(__file__).resolve().parents[2]
RTOLS = (1e-4, 1e-6, 1e-8, 1e-11)
KINDS = ("examples", "samples", "variations", "mechanisms", "starts")
SPAN = 0.2  # [s] of a run at most: the verdict is on equations
VARIED = ("mass", "k", "c", "R", "L", "C", "J", "B", "K", "inertia", "points")
SLOW = 60.0  # processor time [s] of one verdict that is told
CPU = 200.0  # [s] after which a verdict hangs
Case = tuple[str, str, Callable[[], vbg.Model], float]  # kind, name, how it is made, rtol


def example_files() -> list[Path]:
    """Model files of the examples."""
    return sorted((ROOT / "examples").glob("*.toml"))


def sample_texts() -> Iterator[tuple[str, str]]:
    """(name, text) of a small machine around every kind of part."""
    for table, kinds in catalogue().items():
        for kind in kinds:
            try:
                yield f"{table}.{kind}", machine(table, kind)
            except KeyError:
                continue


def at_rest(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same machine with no speed written and no drive or source that moves it."""
    still = dict(document.items())
    for table in ("bodies", "joints"):
        parts = {}
        for name, part in document.get(table, {}).items():
            kept = {k: v for k, v in part.items() if k not in ("velocity", "angular_velocity")}
            if "drive" in kept:
                kept.pop("drive")
            if isinstance(kept.get("initial"), Mapping):
                kept["initial"] = {k: v for k, v in kept["initial"].items() if "speed" not in k}
            parts[name] = kept
        if parts:
            still[table] = parts
    return still


def weightless(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same machine without gravity."""
    return {**document, "gravity": [0.0, 0.0, 0.0]}


def varied(document: Any, draw: random.Random, key: str = "") -> Any:
    """The document with numbers of the named keys multiplied by 10^-0.3 to 10^0.3."""
    if isinstance(document, Mapping):
        one = draw.choice([None, 10.0 ** draw.uniform(-0.3, 0.3)])
        return {
            k: _scaled(v, one) if k == "inertia" and one else varied(v, draw, k)
            for k, v in document.items()
        }
    if key in VARIED and isinstance(document, int | float) and not isinstance(document, bool):
        return float(document) * 10.0 ** draw.uniform(-0.3, 0.3)
    return document


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, Mapping):
        return {k: _scaled(v, factor) for k, v in value.items()}
    return float(value) * factor if isinstance(value, int | float) else value


def mechanism(draw: random.Random) -> dict[str, Any]:
    """A random tree, loop, redundant linkage or door."""
    rng = np.random.default_rng(draw.randrange(2**32))
    return draw.choice([_tree, _four_bar, _door])(draw, rng)


def _body(rng: np.random.Generator, **more: Any) -> dict[str, Any]:
    J = rng.uniform(0.5, 1.0, 3) * rng.uniform(0.01, 0.1)
    return {
        "mass": float(rng.uniform(0.2, 5.0)),
        "inertia": dict(zip(("xx", "yy", "zz"), map(float, J + 0.2 * J.sum()), strict=True)),
        **more,
    }


def _tree(draw: random.Random, rng: np.random.Generator) -> dict[str, Any]:
    kinds = ("revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")
    bodies: dict[str, Any] = {}
    joints: dict[str, Any] = {}
    for i in range(draw.randint(1, 5)):
        ends = {"A": rng.normal(size=3).tolist(), "B": rng.normal(size=3).tolist()}
        bodies[f"b{i}"] = _body(rng, points=ends)
        parent = "ground" if i == 0 else f"b{draw.randrange(i)}.B"
        joint = {"kind": draw.choice(kinds), "between": [parent, f"b{i}.A"]}
        if joint["kind"] != "spherical":
            joint["axis"] = rng.normal(size=3).tolist()
        if joint["kind"] == "universal":
            joint["axis2"] = np.cross(joint["axis"], rng.normal(size=3)).tolist()
        joints[f"j{i}"] = joint
    return {"bodies": bodies, "joints": joints}


def _four_bar(draw: random.Random, rng: np.random.Generator) -> dict[str, Any]:
    """A planar four-bar linkage in a skew plane, redundant or not."""
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    corners = np.array([[0, 0], [0.1, 0.4], [1.0, 0.6], [1.1, 0.0]]) + rng.uniform(0, 0.05, (4, 2))
    world = np.column_stack([corners, np.zeros(4)]) @ q.T
    bodies, joints = {}, {}
    for i in range(3):
        middle = (world[i] + world[i + 1]) / 2
        points = {"A": (world[i] - middle).tolist(), "B": (world[i + 1] - middle).tolist()}
        bodies[f"b{i}"] = _body(rng, position=middle.tolist(), points=points)
    ends = [{"body": "ground", "at": world[0].tolist()}, "b0.A", "b0.B", "b1.A", "b1.B", "b2.A"]
    ends += ["b2.B", {"body": "ground", "at": world[3].tolist()}]
    for i in range(4):
        kind = "revolute" if i < 2 or draw.random() < 0.5 else "spherical"
        joints[f"j{i}"] = {"kind": kind, "between": ends[2 * i : 2 * i + 2]}
        if kind == "revolute":
            joints[f"j{i}"]["axis"] = q[:, 2].tolist()
    return {"bodies": bodies, "joints": joints}


def _door(draw: random.Random, rng: np.random.Generator) -> dict[str, Any]:
    """A leaf on two or three bearings along one skew axis."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    middle = rng.normal(size=3)
    joints = {}
    for i in range(draw.randint(2, 3)):
        at = axis * float(i)
        kind = "revolute" if i == 0 else draw.choice(["revolute", "cylindrical", "point_on_line"])
        ends = [
            {"body": "ground", "at": at.tolist()},
            {"body": "leaf", "at": (at - middle).tolist()},
        ]
        joints[f"j{i}"] = {"kind": kind, "between": ends, "axis": axis.tolist()}
    return {"bodies": {"leaf": _body(rng, position=middle.tolist())}, "joints": joints}


SPEEDS = {  # what a joint's `initial` may say of speeds
    "revolute": ("speed",),
    "prismatic": ("speed",),
    "cylindrical": ("speed", "slide_speed"),
    "universal": ("speed", "speed2"),
}


def started(document: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
    """The machine with random speeds written for about half of its bodies and joints."""
    bodies, joints = {}, {}
    for name, body in document["bodies"].items():
        keys = [k for k in ("velocity", "angular_velocity") if draw.random() < 0.4]
        bodies[name] = body | {k: [draw.gauss(0.0, 1.0) for _ in range(3)] for k in keys}
    for name, joint in document["joints"].items():
        keys = [k for k in SPEEDS.get(joint["kind"], ()) if draw.random() < 0.5]
        initial = {"initial": {k: draw.gauss(0.0, 1.0) for k in keys}} if keys else {}
        joints[name] = joint | initial
    return _hindered({**document, "bodies": bodies, "joints": joints}, draw)


def _hindered(document: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """With what else the start has to agree with: a drive, a rotor, a loop that does not close."""
    how = draw.choice(["", "driven", "turning", "open", "open and driven"])
    hinges = [name for name, joint in document["joints"].items() if joint["kind"] == "revolute"]
    bodies, joints = document["bodies"], document["joints"]
    if how == "turning" and hinges:
        speed = {"speed": draw.gauss(0.0, 3.0)} if draw.random() < 0.5 else {}
        rotor = {"kind": "inertia", "on": f"joints.{draw.choice(hinges)}", "J": 0.05, **speed}
        return {**document, "rotational": {"rotor": rotor}}
    if "driven" in how and hinges:
        hinge = draw.choice(hinges)
        kept = {k: v for k, v in joints[hinge].items() if k != "initial"}
        joints = {**joints, hinge: {**kept, "drive": "0.7*t + 0.3*sin(3*t)"}}
    if "open" in how and len(bodies) > 1:
        bodies = {
            name: body | {"position": [x + draw.gauss(0.0, 0.02) for x in body["position"]]}
            for name, body in bodies.items()
            if "position" in body
        } or bodies
    return {**document, "bodies": bodies, "joints": joints}


CHANGES = {"as written": dict, "at rest": at_rest, "weightless": weightless}


def changed(model: vbg.Model, change: Callable[[Mapping[str, Any]], Any]) -> vbg.Model:
    """The model with its document changed."""
    return vbg.Model(**change(model.document))


def every(kinds: tuple[str, ...]) -> Iterator[Case]:
    """All examples and samples as written, at rest and without gravity, at all tolerances."""
    sources: dict[str, dict[str, Callable[[], vbg.Model]]] = {
        "examples": {p.stem: partial(vbg.read, p) for p in example_files()},
        "samples": {name: partial(toml.parse, text, "") for name, text in sample_texts()},
    }
    for kind in kinds:
        for name, read in sources.get(kind, {}).items():
            for how, change in CHANGES.items():
                for rtol in RTOLS:
                    yield kind, f"{name} {how}", lambda r=read, c=change: changed(r(), c), rtol


def drawn(count: int, seed: int, kinds: tuple[str, ...]) -> Iterator[Case]:
    """Cases at random."""
    for number in range(count):
        kind, draw = kinds[number % len(kinds)], random.Random(f"{seed} {number}")
        rtol = draw.choice(RTOLS)
        if kind in ("mechanisms", "starts"):
            document = mechanism(draw)
            document = started(document, draw) if kind == "starts" else document
            yield kind, f"{seed} {number}", lambda d=document: vbg.Model(**d), rtol
        elif kind == "variations":
            path = draw.choice(example_files())
            change = partial(varied, draw=draw)
            make = partial(lambda p, c: changed(vbg.read(p), c), path, change)
            yield kind, f"{path.stem} {seed} {number}", make, rtol
        else:
            _, name, make, rtol = draw.choice(list(every((kind,))))
            yield kind, name, make, rtol


def judged(make: Callable[[], vbg.Model], rtol: float) -> tuple[str, str, float]:
    """(result, sentence, processor time [s]) of one case."""
    begun = time.process_time()
    os.chdir(ROOT / "examples")  # where included files are
    try:
        model = make()
        end = min(SPAN, model.simulate.t_end)
        report = validate(model, t_end=end, output_step=end / 50, rtol=rtol, in_children=False)
    except VbgError as error:
        return "refused", " ".join(str(error).split())[:200], 0.0
    return report.result, report.verdict.sentence, time.process_time() - begun


def campaign(cases: Iterable[Case]) -> Counter[tuple[str, str]]:
    """Judges the cases and returns how many had which result, by kind."""
    table: Counter[tuple[str, str]] = Counter()
    for kind, name, make, rtol in cases:
        try:
            result, sentence, spent = forked(lambda m=make, r=rtol: judged(m, r), CPU)
        except Stuck as error:
            result, sentence, spent = "hang", str(error), CPU
        except RuntimeError as error:
            result, sentence, spent = "crash", str(error), 0.0
        table[kind, result] += 1
        if result != "PASS" or spent > SLOW:
            print(
                f"{result:14}{kind}: {name}, rtol {rtol:g}, {spent:.0f} s: {sentence}", flush=True
            )
    for kind in dict.fromkeys(kind for kind, _ in table):
        print(
            f"{kind:12}" + "  ".join(f"{n} {r}" for (k, r), n in sorted(table.items()) if k == kind)
        )
    return table


def main() -> None:
    """The campaign; exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--every", action="store_true", help="all examples and samples instead")
    arguments = parser.parse_args()
    kinds = tuple(arguments.kind or KINDS)
    for warm in ("joints.revolute", "electric.capacitor"):  # kernels, before anything is forked
        judged(partial(toml.parse, machine(*warm.split(".")), ""), 1e-6)
    table = campaign(
        every(kinds) if arguments.every else drawn(arguments.count, arguments.seed, kinds)
    )
    sys.exit(1 if {"FAIL", "hang", "crash"} & {result for _, result in table} else 0)


if __name__ == "__main__":
    main()
