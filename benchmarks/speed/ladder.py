"""RLC ladders: cost per evaluation against the number of sections; ngspice where installed.

``python -m benchmarks.speed.ladder``

Two ladders of 1000 sections are run beside ngspice: the plain one, a delay line that rings, and
a stiff one, whose inductances are parasitic (fastest time constant 1e-11 s, slowest 1e-3 s) and
whose end is clamped by a diode.  ngspice is given the loosest of `SETTINGS` with which its
curves come within `ALLOWED` of its own at the tightest.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import vbg
from benchmarks import asked
from benchmarks.timing import best_seconds
from vbg.assemble.program.evaluator import Evaluator

ALLOWED = 1e-4  # V, between the curves of the two programs
# reltol and largest step as part of the run, from tight to loose
SETTINGS = (
    (1e-6, 1 / 16000),
    (1e-6, 1 / 8000),
    (1e-6, 1 / 4000),
    (1e-5, 1 / 2000),
    (1e-5, 1 / 1000),
    (1e-4, 1 / 400),
)
REPEATS = 4
THERMAL = 0.026  # V, thermal voltage of the diode
BOLTZMANN_PER_CHARGE, KELVIN = 8.617333262e-5, 300.15  # what ngspice multiplies its N with


@dataclass(frozen=True, slots=True)
class Ladder:
    """R and L in series, C to ground, `sections` times; a ramp drives it, a load ends it."""

    sections: int
    resistance: float  # ohm
    inductance: float  # H
    capacitance: float  # F
    load: float  # ohm
    rise: float  # s
    voltage: float  # V
    t_end: float  # s
    rtol: float
    atol: float
    clamped: bool  # whether a diode stands across the load

    @property
    def watched(self) -> tuple[int, ...]:
        """Sections whose voltage is compared."""
        return (self.sections // 8, self.sections // 4, self.sections // 2, self.sections)


def plain(sections: int) -> Ladder:
    """A delay line of 32 ns a section, nearly without loss."""
    t_end = 60e-9 * sections
    return Ladder(
        sections, 0.05, 1e-6, 1e-9, 50.0, 0.2 * t_end, 1.0, t_end, 1e-6, 1e-15, clamped=False
    )


def stiff(sections: int) -> Ladder:
    """Diffusion along R and C; the inductances are those of short wires."""
    t_end = 1e-9 * sections**2
    return Ladder(
        sections, 1.0, 1e-11, 1e-9, 1e3, 0.01 * t_end, 5.0, t_end, 1e-6, 1e-15, clamped=True
    )


def model(ladder: Ladder) -> vbg.Model:
    """The ladder in vbg."""
    n = ladder.sections
    parts: dict = {"U": {"kind": "voltage_source", "nodes": ["n0", "gnd"], "voltage": "on"}}
    for i in range(n):
        across, to = [f"n{i}", f"m{i}"], f"n{i + 1}"
        parts[f"R{i}"] = {"kind": "resistor", "nodes": across, "R": ladder.resistance}
        parts[f"L{i}"] = {"kind": "inductor", "nodes": [f"m{i}", to], "L": ladder.inductance}
        parts[f"C{i}"] = {"kind": "capacitor", "nodes": [to, "gnd"], "C": ladder.capacitance}
    parts["load"] = {"kind": "resistor", "nodes": [f"n{n}", "gnd"], "R": ladder.load}
    if ladder.clamped:
        parts["D"] = {"kind": "diode", "nodes": [f"n{n}", "gnd"], "Is": 1e-12, "Vt": THERMAL}
    return vbg.Model(
        name="ladder",
        electric=parts,
        signals={"on": {"kind": "ramp", "duration": ladder.rise, "height": ladder.voltage}},
        simulate={
            "t_end": ladder.t_end,
            "output_step": ladder.t_end / 200,
            "rtol": ladder.rtol,
            "atol": ladder.atol,
        },
    )


def netlist(ladder: Ladder, reltol: float, step: float, output: Path) -> str:
    """The ladder for ngspice, with its largest step [s]; writes the watched voltages."""
    lines = ["ladder", f"VU n0 0 PWL(0 0 {ladder.rise} {ladder.voltage})"]
    for i in range(ladder.sections):
        lines += [
            f"R{i} n{i} m{i} {ladder.resistance}",
            f"L{i} m{i} n{i + 1} {ladder.inductance}",
            f"C{i} n{i + 1} 0 {ladder.capacitance}",
        ]
    lines.append(f"RL n{ladder.sections} 0 {ladder.load}")
    if ladder.clamped:
        emission = THERMAL / (BOLTZMANN_PER_CHARGE * KELVIN)
        lines += [f"D n{ladder.sections} 0 clamp", f".model clamp D(IS=1e-12 N={emission:.10f})"]
    curves = " ".join(f"v(n{i})" for i in ladder.watched)
    t_end = ladder.t_end
    return "\n".join(
        [
            *lines,
            f".options reltol={reltol} gmin=1e-15",
            f".save {curves}",
            ".control",
            f"tran {t_end / 200} {t_end} 0 {step}",
            f"wrdata {output} {curves}",
            "quit",
            ".endc",
            ".end",
            "",
        ]
    )


def by_ngspice(
    ladder: Ladder, reltol: float, part: float, times: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Processor seconds of the process, and the watched voltages at `times`, one row each."""
    with tempfile.TemporaryDirectory() as folder:
        output, source = Path(folder) / "load.txt", Path(folder) / "ladder.cir"
        source.write_text(netlist(ladder, reltol, part * ladder.t_end, output), "utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["ngspice", "-b", str(source)], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        columns = np.loadtxt(output).T
    return spent, np.array([np.interp(times, columns[0], curve) for curve in columns[1::2]])


def by_vbg(ladder: Ladder) -> tuple[Mapping[str, float], vbg.Solution, NDArray[np.float64]]:
    """Seconds by stage, the solution, and the watched voltages."""
    began = time.process_time()
    system = vbg.assemble(model(ladder))
    vbg.start(system).rate_program, system.programs.output
    assembled = time.process_time()
    solution = vbg.simulate(system)
    stages = {"assembly": assembled - began, "run": time.process_time() - assembled}
    return stages, solution, np.array([solution[f"C{i - 1}.voltage"] for i in ladder.watched])


def compare(name: str, ladder: Ladder) -> None:
    """Prints processor times of both programs, each the best of `REPEATS`, and the largest
    difference of their curves."""
    by_vbg(ladder)  # loads the compiled kernels and the libraries
    runs = [by_vbg(ladder) for _ in range(REPEATS)]
    stages, solution, own = min(runs, key=lambda run: sum(run[0].values()))
    made = solution.made_by
    print(
        f"{name}, {ladder.sections} sections: vbg ({made.method}, {made.n_steps} steps, energy to "
        f"{solution.audit.energy_residual:.0e}): run {stages['run']:.2f} s, "
        f"before it {stages['assembly']:.2f} s to assemble"
    )
    if shutil.which("ngspice") is None:
        print("  ngspice is not installed: no comparison")
        return
    _, exact = by_ngspice(ladder, *SETTINGS[0], solution.time)
    spent, error = np.inf, np.inf
    for setting in reversed(SETTINGS):
        spent, curves = by_ngspice(ladder, *setting, solution.time)
        error = np.abs(curves - exact).max()
        if error < ALLOWED:
            break
    again = (by_ngspice(ladder, *setting, solution.time)[0] for _ in range(REPEATS - 1))
    spent = min(spent, *again)
    whole = sum(stages.values())
    difference = np.abs(own - exact).max()
    print(
        f"  ngspice: {spent:.2f} s with reltol {setting[0]:g} (its own error {error:.0e} V); "
        f"largest difference of the curves {difference:.1e} V; "
        f"vbg takes {whole / spent:.2f} of ngspice's time, its run {stages['run'] / spent:.2f}"
    )


def evaluation_time(sections: int) -> tuple[float, float, float]:
    """Processor seconds to assemble, for one rate, and for one sparse Jacobian."""
    from vbg.simulate.steppers.implicit.jacobian import implicit_jacobian

    began = time.process_time()
    system = vbg.assemble(model(plain(sections)))
    evaluate, x = Evaluator(vbg.start(system).rate_program), vbg.start(system).state
    assembled = time.process_time() - began
    jacobian = implicit_jacobian(vbg.start(system))
    return (
        assembled,
        best_seconds(lambda: evaluate(0.0, x)),
        best_seconds(lambda: jacobian(0.0, x)),
    )


def main() -> None:
    print(f"{'sections':>9}{'assembly [s]':>14}{'rate [us]':>11}{'Jacobian [us]':>15}")
    for sections in (30, 100, 300, 1000, 3000):
        assembled, rate, jacobian = evaluation_time(sections)
        print(f"{sections:9}{assembled:14.2f}{1e6 * rate:11.1f}{1e6 * jacobian:15.1f}")
    compare("plain", plain(1000))
    compare("stiff", stiff(1000))


if __name__ == "__main__":
    asked.nothing(__doc__)
    main()
