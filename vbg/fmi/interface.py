"""One FMU through FMPy, in the process in which it runs: its variables, and Co-Simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

Places = Sequence[Sequence[Any]]  # (type, reference, number of elements)
Values = list[float]
Slopes = list[list[float]]
REALS = ("Real", "Float64", "Float32")


class Unit(Protocol):
    """A unit that has been instantiated."""

    def __init__(self, job: Mapping[str, Any], folder: str): ...

    def begin(self, u: Values) -> None:
        """Through initialization, with these inputs."""

    def step(self, t: float, h: float, u: Values, slopes: Slopes) -> None:
        """From t to t + h with inputs whose derivatives at t are u, slopes[0], slopes[1], ..."""

    def set(self, u: Values) -> None:
        """Other inputs at the same instant."""

    def outputs(self) -> Values:
        """What is told at this instant."""


def _typed(kind: str, value: Any) -> Any:
    if kind in REALS:
        return float(value)
    if kind == "Boolean":
        return bool(value > 0.5) if isinstance(value, (int, float)) else bool(value)
    return str(value) if kind == "String" else round(float(value))


class Access:
    """Sets and gets variables of several types as one row of numbers."""

    def __init__(self, fmu: Any, version: int):
        self._fmu, self._version = fmu, version

    def _word(self, kind: str) -> str:
        return (
            "Integer"
            if self._version == 2 and kind == "Enumeration"
            else ("Int64" if kind == "Enumeration" else kind)
        )

    def set(self, places: Places, values: Sequence[Any]) -> None:
        at = 0
        for kind, group in groupby(places, key=lambda place: place[0]):
            those = list(group)
            count = sum(size for _, _, size in those)
            typed = [_typed(kind, v) for v in values[at : at + count]]
            getattr(self._fmu, f"set{self._word(kind)}")([r for _, r, _ in those], typed)
            at += count

    def begin(self, job: Mapping[str, Any], u: Values) -> None:
        """Through initialization, with the job's values and these inputs."""
        fmu = self._fmu
        if self._version == 2:
            fmu.setupExperiment(tolerance=job["tolerance"], startTime=0.0)
        for kind, reference, values in job["values"]:
            self.set([[kind, reference, len(values)]], values)
        if self._version == 2:
            fmu.enterInitializationMode()
        else:
            fmu.enterInitializationMode(tolerance=job["tolerance"], startTime=0.0)
        self.set(job["inputs"], u)
        fmu.exitInitializationMode()

    def get(self, places: Places) -> Values:
        found: Values = []
        for kind, group in groupby(places, key=lambda place: place[0]):
            those = list(group)
            count = sum(size for _, _, size in those)
            get = getattr(self._fmu, f"get{self._word(kind)}")
            references = [r for _, r, _ in those]
            values = get(references) if self._version == 2 else get(references, count)
            found += map(float, values)
        return found


class CoSimulation:
    """A unit that brings its own solver."""

    def __init__(self, job: Mapping[str, Any], folder: str):
        self._job, self._version = job, job["version"]
        self._fmu = loaded(job, folder, "Slave")
        self._fmu.instantiate()
        self._access = Access(self._fmu, self._version)
        self._references = [r for kind, r, _ in job["inputs"] if kind in REALS]

    def begin(self, u: Values) -> None:
        self._access.begin(self._job, u)

    def set(self, u: Values) -> None:
        self._access.set(self._job["inputs"], u)

    def step(self, t: float, h: float, u: Values, slopes: Slopes) -> None:
        for order, row in enumerate(slopes, 1):
            reals = [s for (k, _, _), s in zip(self._job["inputs"], row) if k in REALS]
            orders = [order] * len(self._references)
            self._fmu.setRealInputDerivatives(self._references, orders, reals)
        told = self._fmu.doStep(currentCommunicationPoint=t, communicationStepSize=h)
        if self._version == 3:
            _, ends, early, reached = told
            if ends:
                raise StopIteration(f"it asks to end the simulation at t = {reached:g} s")
            if early:
                raise StopIteration(f"it returned early, at t = {reached:g} s")

    def outputs(self) -> Values:
        return self._access.get(self._job["outputs"])


def loaded(job: Mapping[str, Any], folder: str, kind: str) -> Any:
    """The library, by FMPy."""
    if job["version"] == 2:
        from fmpy import fmi2 as module
    else:
        from fmpy import fmi3 as module
    return getattr(module, f"FMU{job['version']}{kind}")(
        guid=job["token"],
        unzipDirectory=folder,
        modelIdentifier=job["identifier"],
        instanceName="vbg",
    )
