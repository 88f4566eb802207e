"""A machine as a folder of C99: its tables, the methods, a `main`, a Makefile."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

import numpy as np

from vbg.assemble.program.program import Program
from vbg.assemble.start.start import Start
from vbg.export.machine import TAPES, Machine, Signal
from vbg.export.realtime import doubles_of, with_step
from vbg.export.stiff import STIFF, silent
from vbg.export.straight import straight
from vbg.export.tables import (
    codes,
    doubles,
    integers,
    number,
    remark,
    strings,
    tape,
    text,
    words_of,
)
from vbg.export.tuning import NOTHING, START, Tuning, Wish, tuned
from vbg.platform.files import write_text
from vbg.plumbing.components import component_names

FIXED: tuple[str, ...] = ("vbg_tape.h", "vbg_tape.c", "vbg_eliminate.c", "vbg_machine.h")
FIXED += ("vbg_machine.c", "vbg_modes.c", "vbg_inside.h", "vbg_fixed.c", "vbg_turns.c")
SHIPPED = (*FIXED, "vbg_run.c", "vbg_step.c", "vbg_radau.c", "vbg_dop853.h")
TIME = "\ntime: {name}\n\t./{name} time\n\n.PHONY: time\n"
TAKEN = re.compile(
    r"(main|makefile|time|clean|vbg_.*|fmi\d)$", re.IGNORECASE
)  # names of other files
FLAGS = "-std=c99 -O3 -Wall -Wextra -pedantic -Wconversion"


def identifier(name: str) -> str:
    """`name` as the end of a C identifier, and as the name of a file."""
    plain = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_") or "machine"
    return f"m_{plain}" if plain[0].isdigit() or TAKEN.match(plain) else plain


def shipped(name: str) -> str:
    """A file of C that is the same for every machine."""
    return files("vbg.export").joinpath("c", name).read_text(encoding="utf-8")


def write_code(
    start: Start,
    folder: str | Path,
    tunable: Sequence[Wish] = (),
    tell: Callable[[str], None] = silent,
    step: float | None = None,
) -> tuple[Path, ...]:
    """Writes the machine of `start` as C99 into `folder`; the files in order.  Of the parameters
    of the file those of `tunable` stay parameters.  `tell` hears of what was chosen.  With `step`
    [s] the code for a task of that period: steps of fixed length and of bounded work, no others.

    Raises ModelError that names what C code has no place for, UsageError for parameters that
    cannot stay (`vbg.export.tuning`) and for steps that the machine cannot take
    (`vbg.export.realtime`).
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = []
    machine, tuning = tuned(start, tunable)
    if step is not None:
        machine = with_step(machine, step, tell)
    tell_of(machine, tell)
    for name, content in sources(machine, tuning).items():
        write_text(place / name, content, follow=False)
        written.append(place / name)
    return tuple(written)


def tell_of(machine: Machine, tell: Callable[[str], None]) -> None:
    """What whoever exports should know: the method that was chosen, and what is not looked for."""
    for words in (*([STIFF] if machine.chosen_implicit else ()), *machine.unlooked):
        tell(words)


def sources(machine: Machine, tuning: Tuning = NOTHING) -> dict[str, str]:
    """All files of the folder by name; the same text for the same machine."""
    name, fixed = identifier(machine.name), machine.step > 0.0
    files = FIXED if fixed else SHIPPED
    words = {
        "MACHINE_UPPER": name.upper(),
        "MACHINE": name,
        "FLAGS_": FLAGS,
        "OBJECTS_": " ".join(f[:-1] + "o" for f in files if f.endswith(".c")),
        "HEADERS_": " ".join(f for f in files if f.endswith(".h")),
        "STEP_": number(machine.step),
    }

    def written(file: str) -> str:
        return re.sub("|".join(words), lambda word: words[word[0]], shipped(file))

    return {
        f"{name}.h": _header(machine, name, tuning),
        f"{name}.c": model_code(machine, name, tuning),
        "main.c": written("realtime.c" if fixed else "main.c"),
        "Makefile": written("Makefile") + (TIME.format(name=name) if fixed else ""),
        "vbg_codes.h": codes(),
        **{file: shipped(file) for file in files},
    }


def made_by() -> str:
    """The version of vbg."""
    try:
        return f"vbg {version('vbg')}"
    except PackageNotFoundError:
        return "vbg"


def _listed(signals: tuple[Signal, ...]) -> str:
    width = max((len(s.name) for s in signals), default=0)
    rows = [f"     {i:5d}  {s.name:<{width}}  {s.unit}" for i, s in enumerate(signals)]
    return "\n".join(remark(row.rstrip()) for row in rows) or "     none"


def _header(machine: Machine, name: str, tuning: Tuning) -> str:
    model = machine.system.model
    rows = machine.system.constraint_names
    stay = {p.name: p for p in tuning.parameters}
    parameters = "\n".join(
        f"     {remark(key)} = {number(float(value))}"
        for key, value in _parameters(machine).items()
        if key not in stay
    )
    follow = "\n".join(
        f"     {i:5d}  {remark(p.name)} = {number(p.value)}"
        f", from {number(p.low)} to {number(p.high)}"
        for i, p in enumerate(tuning.parameters)
    )
    unlooked = "\n".join(f"     {remark(words)}" for words in machine.unlooked)
    words = model.description or "a machine"
    macro, memory = "", ""
    if machine.step > 0.0:
        macro = f"\n#define {name.upper()}_DOUBLES {doubles_of(machine, tuning)}\n"
        memory = f", {name.upper()}_DOUBLES"
    return f"""/* {remark(machine.name)}: {remark(words)}
   Made by {made_by()} from the model with the hash {model.hash}.

   Equations: redundant coordinates with constraint efforts, from the vector bond graph; see
   vbg_machine.h and mathematics in vbg's documentation. SI units; angles in radians.

   Parameters that vbg_tune changes before vbg_begin, in the range in which they were tried:
{follow or "     none"}

   Other parameters of the model file stand in the tables as numbers; they cannot be changed here:
{parameters or "     none"}

   State x:
{_listed(machine.states)}

   Constraint efforts (joint forces in the first body's axes): {len(rows)}

   Method: {_method(machine)}

   Not looked for:
{unlooked or "     nothing"}

   Signals of vbg_outputs:
{_listed(machine.signals)}

   Inputs, set in x:
{_listed(machine.inputs)}

   Memory of a run: as many doubles as vbg_doubles says{memory}. */
#ifndef MACHINE_{name.upper()}_H
#define MACHINE_{name.upper()}_H

#include "vbg_machine.h"
{macro}
extern const vbg_model machine_{name};

#endif
"""


def _method(machine: Machine) -> str:
    if machine.step > 0.0:
        return f"Runge-Kutta of order 4 in steps of {number(machine.step)} s, events at their ends"
    return f"{'Radau IIA of order 5' if machine.implicit else 'DOP853'}, adaptive"


def _parameters(machine: Machine) -> Mapping[str, float]:
    return dict(machine.system.model.parameters)


def model_code(machine: Machine, name: str, tuning: Tuning = NOTHING) -> str:
    """The machine's tables and the value `machine_NAME`."""
    kept = machine.start.kept
    rows = len(machine.system.constraint_names)
    dependent = int(np.count_nonzero(kept[:rows] == 0.0))
    parts = [f'#include "{name}.h"\n\n#include <math.h>\n']
    same = machine.programs["recorded"] is machine.programs["rate"]
    for n, what in enumerate(TAPES):
        if what == "recorded" and same:
            continue
        program, follows = machine.programs[what], bool(tuning.of(n))
        names = _words(machine, program)
        written = None if follows else straight(program, f"{what}_tape", names)
        parts.append(tape(f"{what}_tape", program, dependent, written or "", follows=follows))
    parts.append(_places(machine, rows))
    parts.append(_tuning(machine, tuning, dependent))
    parts.append(_model(machine, name, rows, "rate_tape" if same else "recorded_tape"))
    return "\n".join(parts)


def tapes_code(machine: Machine, programs: Mapping[str, Program]) -> str:
    """More programs as the values `NAME_tape`, behind the machine's own."""
    return "\n".join(
        tape(
            f"{name}_tape",
            program,
            0,
            straight(program, f"{name}_tape", _words(machine, program)) or "",
            follows=False,
        )
        for name, program in programs.items()
    )


def _tuning(machine: Machine, tuning: Tuning, dependent: int) -> str:
    """The value `tuning`: which numbers follow the parameters, and how."""
    places: list[int] = []
    first: list[int] = [0]
    terms: list[tuple[float, tuple[float, ...]]] = []
    for word in tuning.words:
        at = word.at
        if word.tape != START:
            program = machine.programs[TAPES[word.tape]]
            size = len(program.workspace)
            at = at if at < size else words_of(program, dependent) + at - size
        places.append(at)
        terms += word.terms
        first.append(len(terms))
    fields = ("value", "low", "high")
    return "".join(
        [
            strings("parameter_names", [p.name for p in tuning.parameters]),
            *(
                doubles(f"parameter_{f}", [getattr(p, f) for p in tuning.parameters])
                for f in fields
            ),
            integers("follow_tape", [word.tape for word in tuning.words]),
            integers("follow_at", places),
            integers("follow_first", first),
            doubles("follow_factor", [a for a, _ in terms]),
            doubles("follow_outer", [word.outer for word in tuning.words]),
            doubles("follow_sign", [word.sign for word in tuning.words]),
            doubles("follow_exponent", [e for _, row in terms for e in row]),
            "static const vbg_tuning tuning = {\n",
            f"    {len(tuning.parameters)}, parameter_names,\n",
            "    parameter_value, parameter_low, parameter_high,\n",
            f"    {len(tuning.words)}, follow_tape, follow_at, follow_first,\n",
            "    follow_outer, follow_sign, follow_factor, follow_exponent};\n",
        ]
    )


def _words(machine: Machine, program: Program) -> list[str]:
    """What the first words of a program's workspace are."""
    more = [s.name for s in machine.states]
    others = [
        one
        for name, (_, rows, _) in list(program.inputs.items())[len(machine.system.slices) :]
        for one in component_names(name, rows)
    ]
    return more + others


def _steps(machine: Machine, prefix: str) -> tuple[list[int], list[int]]:
    """Words of `correction` and the states that they are added to."""
    by_name = {s.state.name: s for s in machine.system.slices}
    words: list[int] = []
    places: list[int] = []
    for name, (at, size, _) in machine.programs["correction"].outputs.items():
        if name.startswith(prefix):
            state = by_name[name.removeprefix(prefix)]
            words += range(at, at + size)
            places += range(state.first, state.last)
    return words, places


def _places(machine: Machine, rows: int) -> str:
    system, start = machine.system, machine.start
    by_name = {s.state.name: s for s in system.slices}
    measured = [by_name[name] for name in machine.programs["measure"].outputs]
    stretched = [by_name[name] for name in machine.programs["effective"].outputs]
    posture, velocity = _steps(machine, "posture "), _steps(machine, "velocity ")
    continuous = [i for i in range(system.size) if i not in machine.discrete]
    held = {s.place for s in machine.inputs}
    return "\n".join(
        [
            strings("state_names", system.state_names),
            doubles("start", start.state),
            doubles("kept", start.kept[:rows]),
            doubles("length", machine.lengths),
            doubles("tolerance", machine.tolerance),
            integers("posture_from", posture[0]) + integers("posture_to", posture[1]),
            integers("velocity_from", velocity[0]) + integers("velocity_to", velocity[1]),
            integers("quaternion", _quaternions(machine)),
            integers("stretched_at", [s.first for s in stretched]),
            integers("measured_at", [s.first for s in measured]),
            doubles("period", [s.state.period for s in measured]),
            strings("switch_names", [s for s, _, _ in machine.switches]),
            integers("mode_at", [at for _, at, _ in machine.switches]),
            integers("quiet", [q for _, _, q in machine.switches]),
            strings("part_names", machine.programs["turns"].outputs),
            doubles("clock_first", [c.first for c in machine.clocks]),
            doubles("clock_period", [c.period for c in machine.clocks]),
            doubles("single", machine.singles),
            integers("sample_to", [to for to, _ in machine.sampled]),
            integers("sample_clock", [clock for _, clock in machine.sampled]),
            doubles("pause", machine.pauses),
            strings("signal_names", [s.name for s in machine.signals]),
            strings("signal_units", [s.unit for s in machine.signals]),
            strings("variable_names", [s.name for s in machine.inputs]),
            strings("variable_units", [s.unit for s in machine.inputs]),
            integers("variable_at", [s.place for s in machine.inputs]),
            integers("continuous_at", [i for i in continuous if i not in held]),
        ]
    )


def _quaternions(machine: Machine) -> list[int]:
    return [s.first for s in machine.system.slices if s.state.kind == "quaternion"]


def _model(machine: Machine, name: str, rows: int, recorded: str) -> str:
    system, model = machine.system, machine.system.model
    s = model.simulate
    posture, velocity = _steps(machine, "posture "), _steps(machine, "velocity ")
    held = {i.place for i in machine.inputs}
    fields = {
        "name": text(machine.name),
        "key": text(model.hash),
        "states": system.size,
        "rows": rows,
        "state_names": "state_names",
        "start": "start",
        "kept": "kept",
        "length": "length",
        "rounding": number(machine.rounding),
        "tolerance": "tolerance",
        "rtol": number(s.rtol),
        "atol": number(s.atol),
        "t_end": number(s.t_end),
        "output_step": number(s.output_step),
        "implicit": int(machine.implicit),
        "step": number(machine.step),
        **{t: f"&{recorded if t == 'recorded' else f'{t}_tape'}" for t in TAPES},
        "posture": f"{{{len(posture[0])}, posture_from, posture_to}}",
        "velocity": f"{{{len(velocity[0])}, velocity_from, velocity_to}}",
        "quaternions": len(_quaternions(machine)),
        "quaternion": "quaternion",
        "stretched": len(machine.programs["effective"].outputs),
        "stretched_at": "stretched_at",
        "measured": len(machine.programs["measure"].outputs),
        "measured_at": "measured_at",
        "period": "period",
        "switches": len(machine.switches),
        "switch_names": "switch_names",
        "mode_at": "mode_at",
        "quiet": "quiet",
        "parts": len(machine.programs["turns"].outputs),
        "part_names": "part_names",
        "clocks": len(machine.clocks),
        **{f"clock_{its}": f"clock_{its}" for its in ("first", "period")},
        "singles": len(machine.singles),
        "single": "single",
        "spread_scale": number(machine.scale),
        "samples": len(machine.sampled),
        "sample_to": "sample_to",
        "sample_clock": "sample_clock",
        "pauses": len(machine.pauses),
        "pause": "pause",
        "longest": number(machine.longest),
        "signals": len(machine.signals),
        "signal_names": "signal_names",
        "signal_units": "signal_units",
        "variables": len(machine.inputs),
        **{f"variable_{its}": f"variable_{its}" for its in ("names", "units", "at")},
        "continuous": system.size - len(machine.discrete | held),
        "continuous_at": "continuous_at",
        "tuning": "&tuning",
    }
    inside = "\n".join(f"    .{field} = {value}," for field, value in fields.items())
    return f"const vbg_model machine_{name} = {{\n{inside}\n}};\n"
