"""Exported FMUs of all examples, simulated by FMPy, beside vbg.

``python -m benchmarks.importing [--fmi 2 3] [--kinds cs me] [--only NAME ...] [--seconds T]``

Each example to its end (T at most), by FMPy's loop of Co-Simulation at a relative tolerance of
1e-10, and by its CVODE on Model Exchange at 1e-12: what that errs by in a run is far above its
tolerance.  What is told: the largest difference of a signal, of the largest value of all signals
of its kind; or why it was refused.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import vbg
from benchmarks.exported import worst
from vbg.errors import VbgError
from vbg.export.fmu import write_fmu
from vbg.solution import components

ROWS = 100
KINDS = {"cs": "CoSimulation", "me": "ModelExchange"}
TOLERANCE = {"cs": 1e-10, "me": 1e-12}
WRONG = 1e-6


def by_fmpy(path: Path, kind: str, t_end: float) -> dict[str, np.ndarray]:
    """Columns by name."""
    import fmpy

    described = fmpy.read_model_description(str(path))
    names = [v.name for v in described.modelVariables if v.causality == "output"]
    result: Any = fmpy.simulate_fmu(
        str(path),
        fmi_type=KINDS[kind],
        stop_time=t_end,
        output_interval=t_end / ROWS,
        relative_tolerance=TOLERANCE[kind],
        output=names,
        record_events=False,
        timeout=300.0,
    )
    return {name: result[name] for name in result.dtype.names}


def line(start: vbg.Start, version: int, kinds: list[str], t_end: float, ours: Any) -> str:
    """What each kind misses."""
    found = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "machine.fmu"
        write_fmu(start, path, version=version)
        for kind in kinds:
            began = time.process_time()
            try:
                columns = by_fmpy(path, kind, t_end)
            except Exception as error:  # noqa: BLE001  whatever an importer says of a unit
                found.append(f"{kind} {str(error)[:80]}  <--")
                continue
            miss, name = worst(columns, ours)
            whole = len(columns["time"]) == ROWS + 1
            mark = "" if whole and miss < WRONG else f" {name}, {len(columns['time'])} rows <--"
            found.append(f"{kind} {miss:.1e} {time.process_time() - began:5.1f} s{mark}")
    return f"FMI {version}: " + "; ".join(found)


def main(arguments: argparse.Namespace) -> None:
    for path in sorted(Path("examples").glob("*.toml")):
        if arguments.only and path.stem not in arguments.only:
            continue
        model = vbg.read(path)
        t_end = min(model.simulate.t_end, arguments.seconds)
        try:
            start = vbg.start(vbg.assemble(model))
            solution = vbg.simulate(start, t_end=t_end, output_step=t_end / ROWS, rtol=1e-11)
            for version in arguments.fmi:
                told = line(start, version, arguments.kinds, t_end, dict(components(solution)))
                print(f"{path.stem:22} {told}", flush=True)
        except VbgError as error:
            print(f"{path.stem:22} refused: {str(error)[:110]}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fmi", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=list(KINDS))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    main(parser.parse_args())
