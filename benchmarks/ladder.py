"""RLC ladder: cost per evaluation against the number of sections; ngspice where installed.

``python -m benchmarks.ladder``
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import vbg

RESISTANCE, INDUCTANCE, CAPACITANCE, LOAD = 0.5, 1e-6, 1e-9, 50.0


def ladder(sections: int, t_end: float = 4e-6) -> vbg.Model:
    """R and L in series, C to ground, `sections` times; a ramp of 10 ns to 1 V drives it."""
    parts: dict = {"U": {"kind": "voltage_source", "nodes": ["n0", "gnd"], "voltage": "on"}}
    for i in range(sections):
        parts[f"R{i}"] = {"kind": "resistor", "nodes": [f"n{i}", f"m{i}"], "R": RESISTANCE}
        parts[f"L{i}"] = {"kind": "inductor", "nodes": [f"m{i}", f"n{i + 1}"], "L": INDUCTANCE}
        parts[f"C{i}"] = {"kind": "capacitor", "nodes": [f"n{i + 1}", "gnd"], "C": CAPACITANCE}
    parts["load"] = {"kind": "resistor", "nodes": [f"n{sections}", "gnd"], "R": LOAD}
    return vbg.Model(
        name="ladder",
        electric=parts,
        signals={"on": {"kind": "ramp", "duration": 1e-8}},
        simulate={"t_end": t_end, "output_step": t_end / 200, "rtol": 1e-7, "atol": 1e-16},
    )


def evaluation_time(sections: int) -> tuple[float, float]:
    """Seconds to assemble, and seconds for one rate."""
    began = time.perf_counter()
    system = vbg.assemble(ladder(sections))
    evaluate, x = system.evaluator("rate"), system.initial_state
    assembled = time.perf_counter() - began
    evaluate(0.0, x)
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(200):
            evaluate(0.0, x)
        best = min(best, (time.perf_counter() - began) / 200)
    return assembled, float(best)


def netlist(sections: int, t_end: float, output: Path) -> str:
    """The same ladder for ngspice."""
    lines = ["ladder", "VU n0 0 PWL(0 0 10n 1)"]
    for i in range(sections):
        lines += [
            f"R{i} n{i} m{i} {RESISTANCE}",
            f"L{i} m{i} n{i + 1} {INDUCTANCE}",
            f"C{i} n{i + 1} 0 {CAPACITANCE}",
        ]
    lines += [f"RL n{sections} 0 {LOAD}", ".options reltol=1e-6", ".control"]
    lines += [f"tran {t_end / 200} {t_end} 0 {t_end / 2000}", f"wrdata {output} v(n{sections})"]
    return "\n".join([*lines, "quit", ".endc", ".end", ""])


def against_ngspice(sections: int) -> None:
    """Wall times of a run, and the largest difference of the load's voltage."""
    model = ladder(sections)
    system = vbg.assemble(model)
    began = time.perf_counter()
    solution = vbg.simulate(system)
    own = time.perf_counter() - began
    print(f"{sections} sections, vbg {solution.made_by.method}: {own:.2f} s")
    if shutil.which("ngspice") is None:
        print("ngspice is not installed: no comparison")
        return
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "load.txt"
        source = Path(folder) / "ladder.cir"
        source.write_text(netlist(sections, model.simulate.t_end, output), "utf-8")
        began = time.perf_counter()
        subprocess.run(["ngspice", "-b", str(source)], check=True, capture_output=True)
        other = time.perf_counter() - began
        time_points, voltage = np.loadtxt(output, usecols=(0, 1)).T
    expected = np.interp(solution.time, time_points, voltage)
    difference = np.abs(solution["load.voltage"] - expected).max()
    print(f"ngspice: {other:.2f} s, largest difference {difference:.1e} V")


def main() -> None:
    print(f"{'sections':>9}{'assembly [s]':>14}{'rate [us]':>11}{'per section [us]':>18}")
    for sections in (10, 100, 300, 1000):
        assembled, rate = evaluation_time(sections)
        print(f"{sections:9}{assembled:14.2f}{1e6 * rate:11.1f}{1e6 * rate / sections:18.4f}")
    against_ngspice(100)


if __name__ == "__main__":
    main()
