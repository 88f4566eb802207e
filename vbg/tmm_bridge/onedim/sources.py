"""Values that the model gives as numbers, signals or expressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.expressions import names, parse
from vbg.plumbing.words import with_article
from vbg.tmm_bridge.formulas.switches import conditions
from vbg.tmm_bridge.formulas.tape import Number
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.formulas.written import function_of, switches_of
from vbg.tmm_bridge.onedim.draft import Draft, no_twin
from vbg.tmm_bridge.onedim.excited import read_by, reads_any
from vbg.tmm_bridge.onedim.laws.signals import (
    PID,
    Characteristic,
    Held,
    Limiter,
    LinearSystem,
    Patches,
    StateOf,
    closure,
    companion,
    dead_time,
    places_of,
    weighted,
)
from vbg.tmm_bridge.onedim.laws.working import Value, Working
from vbg.tmm_bridge.onedim.sensors import reading

# Outputs of these words follow from the balance of an instant, not from states alone.
BALANCED = ("current", "voltage", "flow", "flow_out", "pressure", "power", "force", "torque")
_KEYS = {
    "angle": ("angle", "value"),
    "slide": ("slide", "value"),
    "angle2": ("angle2", "value"),
    "speed": ("", "speed"),
    "speed2": ("angle2", "speed"),
    "slide_speed": ("slide", "speed"),
}


class Sources:
    """Makes values of fields; every signal is laid out once, when it is first read."""

    def __init__(self, draft: Draft):
        self._draft = draft
        self._signals: dict[str, Value] = {}
        self._laws: dict[str, Value] = {}
        self._functions: dict[str, TimeFunction] = {}

    def time_function(self, part: Any, name: str, given: float | str) -> TimeFunction:
        """A field that has to be a function of time."""
        if self._excited(given):
            raise no_twin(part, name, "an input that a prescribed motion would have to follow")
        try:
            function = function_of(self._draft.model, given)
        except UsageError:
            raise no_twin(part, name, "a speed that depends on the motion") from None
        self._draft.functions.append(function)
        return function

    def value(self, part: Any, name: str, given: float | str) -> Value:
        """A field as a function of the instant."""
        if not isinstance(given, str):
            number = float(given)
            return lambda w: number
        timed = None if self._excited(given) else self._timed(given)
        if timed is not None:
            return timed
        if given in self._draft.model.signals:
            return self._signal(given)
        self._draft.switches += switches_of(self._draft.model, given)
        return closure(parse(given), self._lookup)

    def source(self, part: Any, name: str, given: float | str) -> Value:
        """The value of a source, which may be excited by its own name."""
        self._look_for_jumps(part, given)
        return self._draft.raised(name, self.value(part, name, given))

    def _excited(self, given: float | str) -> bool:
        return reads_any(self._draft.model, given, self._draft.excited)

    def _timed(self, given: str) -> Value | None:
        """A field that is a function of time; None for others."""
        try:
            function = self._functions.get(given) or function_of(self._draft.model, given)
        except UsageError:
            return None
        self._functions[given] = function
        self._draft.functions.append(function)
        return lambda w: w.timed(function, 0)

    def _look_for_jumps(self, part: Any, given: float | str) -> None:
        """Where the level or flow of a source jumps or bends as the motion comes to a choice of an
        expression: behind such a place stores that hang on it are not what they were before, and
        a slope between two bends may be as steep as a jump."""
        model, draft = self._draft.model, self._draft
        if not isinstance(given, str) or part.table not in ("electric", "hydraulic"):
            return
        read = (name for name in read_by(model, given) if name in model.signals)
        laws = [model.signals[name] for name in (given, *read) if name in model.signals]
        texts = [law.expression for law in laws if law.kind == "expression"]
        texts += [given] if given not in model.signals else []
        known = {"t", *model.parameters}
        found = {one for text in texts for one in conditions(parse(text)) if names(one) - known}
        values = [closure(condition, self._lookup) for condition in sorted(found, key=str)]
        if values:
            draft.changes.append(("", len(values), lambda w: tuple(value(w) for value in values)))

    def slope(self, given: float | str) -> Value | None:
        """The rate of a field that is a function of time; None for others."""
        if not isinstance(given, str):
            return lambda w: 0.0
        if self._excited(given):
            return None
        function = self._functions.get(given)  # `value` has seen it
        return None if function is None else lambda w: w.timed(function, 1)

    def reads_balance(self, given: float | str) -> bool:
        """Whether a value depends on what the balance of its own instant gives."""
        model = self._draft.model
        return any(
            name.rpartition(".")[2].partition("_")[0] in BALANCED
            for name in read_by(model, given)
            # signals pass on what they read; units of machines are functions of time here
            if name not in model.signals and name.partition(".")[0] not in model.fmu
        )

    def _lookup(self, name: str) -> Value:
        """What a name in an expression stands for."""
        if name in self._draft.model.signals:
            return self.value(None, name, name)
        return self._draft.raised(name, self._named(name))

    def _named(self, name: str) -> Value:
        """What a name stands for that is not a signal's."""
        model, draft = self._draft.model, self._draft
        if name == "t":
            return lambda w: w.t
        if name in model.parameters:
            number = model.parameters[name]
            return lambda w: number
        joint, _, what = name.partition(".")
        if joint in model.fmu:
            recorded = self._functions.setdefault(name, function_of(model, name))
            draft.functions.append(recorded)
            return lambda w: w.timed(recorded, 0)
        if joint in model.joints and what in _KEYS:
            return self._coordinate(joint, what)
        if (value := reading(draft, name)) is not None:
            return value
        draft.reads.add(name)
        return lambda w: draft.readers[name](w)

    def _coordinate(self, joint: str, what: str) -> Value:
        key, which = _KEYS[what]
        if not key:
            keys = [k for (name, k) in self._draft.coordinates if name == joint]
            key = "slide" if "slide" in keys and "angle" not in keys else "angle"
        port = self._draft.joint_port(joint, key)
        return port.value if which == "value" else port.speed

    def _signal(self, name: str) -> Value:
        """A signal that depends on the motion, computed once an instant."""
        if name not in self._signals:
            self._signals[name] = self._draft.raised(name, lambda w: self._read(name, w))
            self._laws[name] = self._law(name)
            self._draft.readers[name] = self._signals[name]
        return self._signals[name]

    def _read(self, name: str, w: Working) -> Number:
        value = w.signals.get(name)
        if value is None:
            value = w.signals[name] = self._laws[name](w)
        return value

    def _law(self, name: str) -> Value:
        """The closure of a signal; its states and kinks go into the network."""
        part: Any = self._draft.model.signals[name]
        match part.kind:
            case "expression":
                return self.value(part, name, part.expression)
            case "input":  # nothing comes from outside
                start = part.start
                return lambda w: start
            case "gain":
                inner, k = self.value(part, name, part.input), part.k
                return lambda w: k * inner(w)
            case "sum":
                values = [self.value(part, name, given) for given in part.inputs]
                weights = part.weights or (1.0,) * len(values)
                return lambda w: weighted(weights, [v(w) for v in values])
            case "limiter":
                limiter = Limiter(self.value(part, name, part.input), part.lower, part.upper)
                self._draft.changes.append((f"signals.{name}", 2, limiter.changes))
                return limiter.value
            case "curve":
                return self._curve(name, part)
            case "surface":
                return self._surface(name, part)
            case "pid":
                return self._pid(name, part)
            case "sample_and_hold":
                clock = float(part.start), float(part.period)
                held = Held(
                    self.value(part, name, part.input),
                    self._draft.state(self._draft.begins.get(name, part.initial)),
                    clock,
                )
                self._draft.held.append(held)
                self._draft.late.append(held)
                return held.value
            case "state_space" | "transfer_function" | "delay":
                return self._linear(name, part)
        timed = self._timed(name)  # of an excited one what it is without
        if timed is None:
            raise no_twin(part, name, f"{with_article(part.kind)} that reads the motion")
        return timed

    def _curve(self, name: str, part: Any) -> Value:
        curve = Characteristic.of(part, self.value(part, name, part.input))
        return self._bent(name, len(curve.kinks), curve)

    def _surface(self, name: str, part: Any) -> Value:
        inputs = self.value(part, name, part.x), self.value(part, name, part.y)
        patches = Patches.of(part, *inputs)
        return self._bent(name, sum(map(len, patches.kinks)), patches)

    def _bent(self, name: str, kinks: int, law: Characteristic | Patches) -> Value:
        """The value of a characteristic, with its kinks among what changes a law."""
        if kinks:
            self._draft.changes.append((f"signals.{name}", kinks, law.changes))
        return law.value

    def _pid(self, name: str, part: Any) -> Value:
        draft = self._draft
        pid = PID(
            self.value(part, name, part.demand),
            self.value(part, name, part.measured),
            (part.kp, part.ki, part.kd),
            part.filter,
            (part.lower, part.upper),
            part.tracking,
            draft.filter(draft.begins.get(f"{name}.filtered", 0.0)) if part.kd else -1,
            draft.filter(draft.begins.get(f"{name}.integral", 0.0)) if part.ki else -1,
        )
        draft.late.append(pid)
        for what, place in (("filtered", pid.filtered), ("integral", pid.integral)):
            if place >= 0:
                draft.tell((f"{name}.{what}", "1", StateOf(place).value))
        bounds = sum(bound is not None for bound in pid.bounds)
        draft.changes.append((f"signals.{name}", bounds, pid.changes))
        return pid.value

    def _linear(self, name: str, part: Any) -> Value:
        draft = self._draft
        given = part.inputs if part.kind == "state_space" else (part.input,)
        values = tuple(self.value(part, name, value) for value in given)
        start: Any = None
        if part.kind == "state_space":
            n = len(part.A)
            A, B = np.array(part.A), np.array(part.B, dtype=float).reshape(n, -1)
            C, D = np.array(part.C), np.array(part.D or np.zeros(len(given)))
            start = part.initial
        elif part.kind == "transfer_function":
            A, B, C, D = companion(part.numerator, part.denominator)
        else:
            A, B, C, D = companion(*dead_time(part.order))
            A, B = A / part.time, B / part.time  # s stands for s time
        told = places_of(f"{name}.state", len(A))
        start = start or np.zeros(len(A)).tolist()
        at = draft.filter(*map(draft.begins.get, told, start))
        system = LinearSystem(values, A, B, C, D, at)
        draft.late.append(system)
        for i, one in enumerate(told):
            draft.tell((one, "1", StateOf(at + i).value))
        return system.value
