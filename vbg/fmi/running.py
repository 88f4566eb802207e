"""An FMU that runs: its child process, seen from the simulation.

Communication at t_k = first + k step.  At t_0 the unit is initialized with the machine's inputs;
at every later one it has stepped from t_{k-1}, and what it tells holds from t_k on:

    u_k = g(x(t_k), y_k),   y_k = outputs at t_k with u_k set

Both are exchanged until they agree, since outputs may follow inputs at once.  Between two
communications y goes on as the polynomial of `order` 0, 1 or 2 through the last values; what is
no real number, or declared as discrete, is held with every order.  With
order 0 the unit steps on with u_{k-1} held, as a sampled controller does; with a higher one with
the polynomial of that order through the last inputs and u_k, or with its mean where the unit takes
no derivatives of inputs.  The coupling errs in proportion to step with order 0, to step^2 with
order 1; order 2 errs by a fraction of that (in the first step all outputs are held).
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError, not_installed
from vbg.fmi.description import REALS, Description, Variable
from vbg.fmi.permission import is_allowed
from vbg.platform.processes import ended

Array = NDArray[np.float64]

AGREED = 1e-12  # relative change of inputs that is none
LAST_WORDS = 400


class FmuFailed(Exception):
    """A unit that gave up, or crashed, in a run; the message says when and how."""


@dataclass(frozen=True, eq=False)
class Wiring:
    """One FMU as a part of a machine: `part` its name, `kind` the interface that is used,
    `inputs` and `outputs` its variables in order, `values` what is set before it begins (in the
    FMU's own units), `step` [s], `order` of the outputs between communications, `patience` with
    one answer [s]."""

    part: str
    description: Description
    kind: str
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    step: float = 1e-3
    order: int = 0
    patience: float = 60.0

    @property
    def interpolates(self) -> bool:
        """Whether inputs may follow straight lines."""
        return self.kind == "ModelExchange" or self.description.interpolates

    @property
    def is_direct(self) -> bool:
        """Whether any of the outputs may follow inputs of the same instant."""
        return any(v.name in self.description.direct for v in self.outputs)

    @property
    def n_outputs(self) -> int:
        """Numbers that it tells at an instant."""
        return sum(v.size for v in self.outputs)

    @property
    def size(self) -> int:
        """Numbers that are held between communications: the time, then the coefficients of
        (t - time)^k, k = 0 ... order, of all outputs."""
        return 1 + (self.order + 1) * self.n_outputs


class Running:
    """The child process of one unit.  Raises UsageError where it may not or cannot begin."""

    def __init__(self, wiring: Wiring, tolerance: float):
        self._wiring, description = wiring, wiring.description
        require_allowed(wiring.part, description)
        self._factors = _row(wiring.inputs, lambda v: v.scale.factor)
        self._offsets = _row(wiring.inputs, lambda v: v.scale.offset)
        self._gains = _row(wiring.outputs, lambda v: v.scale.factor)
        self._zeros = _row(wiring.outputs, lambda v: v.scale.offset)
        self._goes_in = _row(wiring.inputs, _is_smooth)  # 1: follows polynomials, 0: is held
        self._goes_out = _row(wiring.outputs, _is_smooth)
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the child
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "vbg.fmi.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
            encoding="utf-8",
            env=_environment(),
        )
        self._folder = tempfile.mkdtemp(prefix="vbg-fmu-")
        self._end = weakref.finalize(self, _ended, self._child, self._words, self._folder)
        self._count = -1  # of communications
        self._u = self._y = np.zeros(0)  # inputs and outputs at the last of them
        self._past: list[Array] = []  # outputs of those before, the last ones first
        self._read = self._latest = np.zeros(0)  # inputs at the one before the last, at the last
        try:
            self._ask(self._job(tolerance), "at its loading")
        except FmuFailed as error:
            self.close()
            raise UsageError(str(error)) from None

    def _job(self, tolerance: float) -> dict[str, Any]:
        w, d = self._wiring, self._wiring.description
        return {
            "file": d.path,
            "folder": self._folder,
            "version": d.version,
            "kind": w.kind,
            "token": d.token,
            "identifier": d.identifiers[w.kind],
            "parent": os.getpid(),
            "patience": w.patience,
            "states": d.states,
            "indicators": d.indicators,
            "inputs": _places(w.inputs),
            "outputs": _places(w.outputs),
            "values": [
                (d.variables[n].type, d.variables[n].reference, v) for n, v in w.values.items()
            ],
            "tolerance": tolerance,
        }

    def close(self) -> None:
        """End the child."""
        self._end()

    @property
    def part(self) -> str:
        """The part that it is."""
        return self._wiring.part

    def go_on(self, u: Array | None) -> None:
        """To the next communication; the first time through initialization with the inputs `u`,
        later with those that are known there, None where they are held.

        Raises FmuFailed."""
        h = self._wiring.step
        if self._count < 0:
            assert u is not None
            self._count, self._u = 0, self._real(u)
            self._y = self._asked("begin", u=self._own(self._u))
            return
        t, own, slopes = self.t, self._u, np.zeros((0, len(self._u)))
        if self._wiring.order > 0 and u is not None and self._wiring.inputs:
            slopes = self._goes_in * self._derivatives(u)
            if not self._wiring.interpolates:  # their mean over the step
                own = own + sum(d * h**k / factorial(k + 1) for k, d in enumerate(slopes, 1))
                slopes = slopes[:0]
        self._count += 1
        told = (slopes / self._factors).tolist() if len(slopes) else []
        self._y = self._asked("step", t=t, h=h, u=self._own(own), slopes=told)

    def _derivatives(self, u: Array) -> Array:
        """Of the polynomial through the inputs so far and `u`, one step ahead: those of order 1
        and, with order 2, also 2 at the last communication, (order, m)."""
        h, rise = self._wiring.step, u - self._u
        if self._wiring.order == 1 or not len(self._read):
            return np.array([rise / h])
        fall = self._u - self._read
        return np.array([(rise + fall) / (2.0 * h), (rise - fall) / h**2])

    def hear(self, u: Array) -> bool:
        """Tell it other inputs at this instant; whether that may have changed what it tells."""
        u = self._real(u)
        if bool(np.all(np.abs(u - self._u) <= AGREED * np.maximum(np.abs(u), np.abs(self._u)))):
            return False
        self._u = u  # with which the next step begins
        if not self._wiring.is_direct:
            return False
        self._y = self._asked("exchange", u=self._own(u))
        return True

    def keep(self) -> None:
        """What has been exchanged holds: outputs between communications go on from it."""
        self._past = [self._y, *self._past[: self._wiring.order]]
        self._read, self._latest = self._latest, self._u

    @property
    def t(self) -> float:
        """The last communication [s]."""
        return max(self._count, 0) * self._wiring.step

    @property
    def held(self) -> Array:
        """(t, coefficients of (time - t)^k): the polynomial through the last outputs."""
        past, h = [self._y, *self._past][: self._wiring.order + 1], self._wiring.step
        rows = np.zeros((self._wiring.order + 1, len(self._y)))
        rows[0] = past[0]
        if len(past) == 2:
            rows[1] = (past[0] - past[1]) / h
        elif len(past) == 3:
            rows[1] = (3.0 * past[0] - 4.0 * past[1] + past[2]) / (2.0 * h)
            rows[2] = (past[0] - 2.0 * past[1] + past[2]) / (2.0 * h * h)
        rows[1:] *= self._goes_out
        return np.concatenate([[self.t], rows.ravel()])

    def _real(self, u: Array) -> Array:
        """The inputs, none where the unit has none."""
        return u if self._wiring.inputs else np.zeros(0)

    def _own(self, u: Array) -> list[float]:
        """SI values of the inputs in the FMU's units."""
        own: list[float] = ((u - self._offsets) / self._factors).tolist()
        return own

    def _asked(self, what: str, **content: Any) -> Array:
        when = f"at t = {self.t:.6g} s"
        y = np.array(self._ask({"do": what, **content}, when)["y"], dtype=float)
        if not np.all(np.isfinite(y)):
            wrong = [v.name for v in self._wiring.outputs for _ in range(v.size)]
            bad = wrong[int(np.flatnonzero(~np.isfinite(y))[0])]
            raise FmuFailed(f"{self.part}: {when} its output {bad} has no value.")
        return self._gains * y + self._zeros

    def _ask(self, content: Mapping[str, Any], when: str) -> Any:
        assert self._child.stdin is not None and self._child.stdout is not None
        try:
            self._child.stdin.write(json.dumps(content) + "\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except (BrokenPipeError, OSError):
            line = ""
        if not line:
            raise FmuFailed(f"{self.part}: {when} it crashed: {self._ending()}")
        answer = json.loads(line)
        if "error" in answer:
            raise FmuFailed(
                f"{self.part}: {when} it failed: {answer['error']}.{self._last_words()}"
            )
        return answer

    def _ending(self) -> str:
        return f"its process {ended(self._child.wait())}.{self._last_words()}"

    def _last_words(self) -> str:
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").strip().splitlines()
        return f" Its last words: {' '.join(lines[-3:])[-LAST_WORDS:]}" if lines else ""


def require_allowed(part: str, description: Description) -> None:
    """Raises UsageError where this FMU may not run, is not what was read, or cannot."""
    path = description.path
    if not is_allowed(path):
        raise UsageError(
            f"{part}: {path} is native code, which would run with your rights; nobody has said "
            f"that it may. Once you trust where it comes from: --allow-fmu {path} (or its folder), "
            "in Python vbg.allow_fmu(path)."
        )
    try:
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{part}: {path} cannot be read: {error.strerror}.") from None
    if digest != description.digest:
        raise UsageError(f"{part}: {path} has changed since the model was read. Read it again.")
    here = own_platform(description.version)
    if here not in description.binaries:
        there = ", ".join(description.binaries) or "sources only"
        raise UsageError(f"{part}: {path} has no binary for {here}; it has {there}.")
    if find_spec("fmpy") is None:
        raise not_installed(f"{part}: running an FMU", "FMPy", "fmu")


def own_platform(version: int) -> str:
    """The folder of binaries for this machine, as the standard of that version names it."""
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    processor = {"AMD64": "x86_64", "arm64": "aarch64", "ARM64": "aarch64"}
    own = processor.get(platform.machine(), platform.machine())
    if version == 3:
        return f"{own}-{system}"
    return {"windows": "win", "darwin": "darwin"}.get(system, system) + "64"


def _environment() -> dict[str, str]:
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}


def _ended(child: subprocess.Popen[str], words: Any, folder: str) -> None:
    child.kill()
    child.wait()
    shutil.rmtree(folder, ignore_errors=True)
    for stream in (child.stdin, child.stdout, words):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()


def _row(variables: Sequence[Variable], of: Callable[[Variable], float]) -> Array:
    return np.array([of(v) for v in variables for _ in range(v.size)])


def _is_smooth(variable: Variable) -> float:
    return float(variable.type in REALS and variable.variability == "continuous")


def _places(variables: Sequence[Variable]) -> list[tuple[str, int, int]]:
    return [(v.type, v.reference, v.size) for v in variables]
