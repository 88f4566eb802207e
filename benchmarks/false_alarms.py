"""Machines without a fault, judged in many ways: no FAIL may come out, and every run must end.

``python -m benchmarks.false_alarms --count 100 --seed 1``  (``--kind samples`` for one kind)

Kinds: `examples`, `samples` (of `vbg parts`), each as written, at rest and without gravity,
at rtol 1e-4, 1e-6, 1e-8, 1e-11; `variations`, an example with every mass, length and stiffness
multiplied at random; `mechanisms`, random trees, loops, redundant linkages, and doors on two and
three bearings on a skew axis.  Drawn at random by seed; prints whatever is no PASS, and the counts.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import vbg
from vbg.cli.samples import machine
from vbg.errors import VbgError
from vbg.io import toml
from vbg.model.catalogue import catalogue
from vbg.validate import validate

ROOT = Path(__file__).resolve().parents[1]
RTOLS = (1e-4, 1e-6, 1e-8, 1e-11)
KINDS = ("examples", "samples", "variations", "mechanisms")
SPAN = 0.2  # [s] of a run at most: the verdict is on equations
VARIED = ("mass", "k", "c", "R", "L", "C", "J", "B", "K", "inertia", "points")
SLOW = 60.0  # processor time [s] of one verdict that is told


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


def drawn(kind: str, draw: random.Random) -> tuple[str, vbg.Model, float]:
    """(name, model, rtol) of one case."""
    rtol = draw.choice(RTOLS)
    if kind == "mechanisms":
        return "mechanism", vbg.Model(**mechanism(draw)), rtol
    if kind == "samples":
        name, text = draw.choice(list(sample_texts()))
        model = toml.parse(text, "")
    else:
        path = draw.choice(example_files())
        name, model = path.stem, vbg.read(path)
    changes: list[Callable[[Mapping[str, Any]], Any]] = [dict, at_rest, weightless]
    if kind == "variations":
        changes = [lambda document: varied(document, draw)]
    change = draw.choice(changes)
    return f"{name} ({change.__name__})", vbg.Model(**change(model.document)), rtol


def campaign(count: int, seed: int, kinds: tuple[str, ...]) -> Counter[tuple[str, str]]:
    """Judges `count` cases and returns how many had which result, by kind."""
    table: Counter[tuple[str, str]] = Counter()
    draw = random.Random(seed)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        try:
            name, model, rtol = drawn(kind, draw)
            begun = time.process_time()
            verdict = validate(
                model,
                t_end=min(SPAN, model.simulate.t_end),
                output_step=min(SPAN, model.simulate.t_end) / 50,
                rtol=rtol,
                in_children=False,
            ).verdict
        except VbgError as error:
            table[kind, "refused"] += 1
            print(f"{'refused':14}{kind} {' '.join(str(error).split())[:100]}", flush=True)
            continue
        spent = time.process_time() - begun
        table[kind, verdict.result] += 1
        if verdict.result != "PASS" or spent > SLOW:
            print(
                f"{verdict.result:14}{name}, rtol {rtol:g}, {spent:.0f} s: {verdict.sentence}",
                flush=True,
            )
    for kind in kinds:
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
    arguments = parser.parse_args()
    table = campaign(arguments.count, arguments.seed, tuple(arguments.kind or KINDS))
    sys.exit(1 if any(result == "FAIL" for _, result in table) else 0)


if __name__ == "__main__":
    main()
