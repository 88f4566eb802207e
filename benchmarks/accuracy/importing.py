"""Exported FMUs of all examples, simulated by FMPy, beside vbg.

    python -m benchmarks.accuracy.importing [--fmi 2 3] [--kinds cs me part] [--only NAME ...]
                                            [--seconds T]

Each example to its end (T at most) at the file's own rows, by FMPy's loop of Co-Simulation and by
its CVODE on Model Exchange, at the first of the tolerances 1e-10, 1e-11, 1e-12 at which all
signals are within 1e-6: what CVODE errs by in a run is far above its
tolerance, and it stops where steps become too many.
With `part` the Model Exchange is integrated by vbg's DOP853, as a part of a machine.  What is told:
the largest difference of a signal, of its own peak (signals below 1e-9 of their kind are rounding),
and the tolerance; or why it was refused; of a miss also how far
a start moved by 1e-13 ends.  The runs of vbg beside it have both their tolerances tightened: with
the file's atol and rtol = 1e-12 they err by more than an importer may.

A chaotic machine is compared over its foreseeable time where its whole run is missed, and told so:
up to the row where starts moved by 1e-13 are 1e-10 apart.  From there on an importer's own errors,
1e-10 or more of each step, are above 1e-6, whoever integrates.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import vbg
from benchmarks.speed.exported import family
from vbg.errors import VbgError
from vbg.export.fmu import write_fmu
from vbg.io import toml
from vbg.solution import components

MOST = 1000  # rows
KINDS = {"cs": "CoSimulation", "me": "ModelExchange", "part": "model-exchange"}
TOLERANCES = (1e-10, 1e-11, 1e-12)
WRONG = 1e-6
ROUNDING = 1e-9
TIGHT = 1e-12
MOVED = 1e-13
APART = 1e-10  # of starts moved by MOVED, of a signal's peak: the end of foreseeable time


def by_fmpy(
    path: Path, kind: str, t_end: float, step: float, tolerance: float
) -> dict[str, np.ndarray]:
    """Columns by name."""
    import fmpy

    described = fmpy.read_model_description(str(path))
    names = [v.name for v in described.modelVariables if v.causality == "output"]
    result: Any = fmpy.simulate_fmu(
        str(path),
        fmi_type=KINDS[kind],
        stop_time=t_end,
        output_interval=step,
        relative_tolerance=tolerance,
        output=names,
        record_events=False,
        timeout=300.0,
    )
    return {name: result[name] for name in result.dtype.names}


def as_part(path: Path, t_end: float, step: float, tolerance: float) -> dict[str, np.ndarray]:
    """Columns of the unit's Model Exchange, integrated by DOP853 as a part of an empty machine."""
    vbg.allow_fmu(path)
    table = f'[fmu.p]\nfile = "{path.name}"\ninterface = "model-exchange"\nstep = {float(step)!r}\n'
    reader = '[signals.t0]\nkind = "expression"\nexpression = "t"\n'
    model = toml.parse(table + reader, str(path.with_suffix(".toml")))
    run = vbg.simulate(model, t_end=t_end, output_step=step, rtol=tolerance)
    if run.status.code != "finished":
        raise RuntimeError(run.status.sentence)
    told = {name.removeprefix("p."): values for name, values in components(run)}
    return {"time": run.time, **told}


def differences(
    found: dict[str, np.ndarray], columns: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Of each signal, per row that both have, of its own peak."""
    peaks = {n: float(np.abs(v).max()) for n, v in columns.items()}
    kinds: dict[str, float] = {}
    for n, peak in peaks.items():
        kinds[family(n)] = max(kinds.get(family(n), 0.0), peak)
    rows = min(len(found["time"]), len(columns["time"]))
    return {
        n: np.abs(found[n][:rows] - columns[n][:rows]) / peaks[n]
        for n in columns
        if n in found and peaks[n] > ROUNDING * kinds[family(n)] and not n.startswith("energy.")
    }


def worst(found: dict[str, np.ndarray], columns: dict[str, np.ndarray]) -> tuple[float, str]:
    """The largest difference of a signal, of its own peak, and whose it is."""
    misses = [(float(d.max()), n) for n, d in differences(found, columns).items()]
    return max(misses, default=(0.0, ""))


def line(start: vbg.Start, version: int, kinds: list[str], t_end: float, ours: Any) -> str:
    """What each kind misses."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "machine.fmu"
        write_fmu(start, path, version=version)
        told = [f"{kind} {tried(path, kind, t_end, ours)}" for kind in kinds]
    return f"FMI {version}: " + "; ".join(told)


def simulated(start: vbg.Start, t_end: float) -> dict[str, np.ndarray]:
    """Columns of vbg's own run at the file's rows, MOST at most."""
    given = start.system.model.simulate
    rows = min(MOST, max(1, round(t_end / given.output_step)))
    atol = given.atol * TIGHT / given.rtol  # as exported code takes an importer's tolerance
    solution = vbg.simulate(start, t_end=t_end, output_step=t_end / rows, rtol=TIGHT, atol=atol)
    return {"time": solution.time, **dict(components(solution))}


def partings(start: vbg.Start, t_end: float, ours: dict[str, np.ndarray]) -> np.ndarray:
    """Per row how far runs are by then at most, of a signal's peak, whose start is moved by MOVED
    of each state (the largest of three directions): what no integrator can be closer than by
    much."""
    found = np.zeros(len(ours["time"]))
    for seed in range(3):
        random = np.random.default_rng(seed)
        state = start.state * (1.0 + MOVED * random.normal(size=len(start.state)))
        moved = simulated(replace(start, state=state), t_end)
        for difference in differences(moved, ours).values():
            found = np.maximum(found, difference)
    return np.maximum.accumulate(found)


def over_foreseeable_time(
    start: vbg.Start, version: int, kinds: list[str], t_end: float, ours: dict[str, np.ndarray]
) -> str:
    """What a miss is told with: how far moved starts end, and what is missed up to where they part,
    if that is before the end."""
    apart = partings(start, t_end, ours)
    told = f" (a start moved by {MOVED:.0e} ends {apart[-1]:.1e} away)"
    rows = int(np.argmax(apart > APART))
    if apart[-1] <= APART or rows < 2:
        return told
    until = ours["time"][rows - 1]
    short = {name: values[:rows] for name, values in ours.items()}
    return f"{told}, to {until:.3g} s of {t_end:.3g}: {line(start, version, kinds, until, short)}"


def tried(path: Path, kind: str, t_end: float, ours: Any) -> str:
    """What one kind misses, at the first tolerance that is tight enough."""
    told = ""
    for tolerance in TOLERANCES:
        try:
            if kind == "part":
                columns = as_part(path, t_end, ours["time"][1], tolerance)
            else:
                columns = by_fmpy(path, kind, t_end, ours["time"][1], tolerance)
        except Exception as error:  # noqa: BLE001  whatever an importer says of a unit
            return f"{told}, then {str(error)[:80]}  <--"
        miss, name = worst(columns, ours)
        told = f"{miss:.1e} at {tolerance:.0e}"
        if len(columns["time"]) == len(ours["time"]) and miss < WRONG:
            return told
    return f"{told}: {name}  <--"


def main(arguments: argparse.Namespace) -> None:
    for path in sorted(Path("examples").glob("*.toml")):
        if arguments.only and path.stem not in arguments.only:
            continue
        model = vbg.read(path)
        t_end = min(model.simulate.t_end, arguments.seconds)
        try:
            start = vbg.start(vbg.assemble(model))
            ours = simulated(start, t_end)
            for version in arguments.fmi:
                told = line(start, version, arguments.kinds, t_end, ours)
                if "<--" in told:
                    told += over_foreseeable_time(start, version, arguments.kinds, t_end, ours)
                print(f"{path.stem:22} {told}", flush=True)
        except VbgError as error:
            print(f"{path.stem:22} refused: {str(error)[:110]}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fmi", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=list(KINDS))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    main(parser.parse_args())
