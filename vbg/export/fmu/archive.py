"""The archive: description, sources, binaries of the platforms, a page of documentation."""

from __future__ import annotations

import platform
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID, uuid5

from vbg.assemble.start.start import Start
from vbg.errors import UsageError
from vbg.export.code import SHIPPED, identifier, made_by, model_code, shipped, tapes_code, tell_of
from vbg.export.compiler import compile_c, find_compiler, zig
from vbg.export.directions import directions
from vbg.export.fmu.chart import NOTHING as NO_CHART
from vbg.export.fmu.chart import Chart, chart_of
from vbg.export.fmu.description import build_description, describe_2, describe_3
from vbg.export.fmu.terminals import describe_terminals, icon_of
from vbg.export.fmu.variables import Variables
from vbg.export.machine import Machine, switching
from vbg.export.realtime import with_step
from vbg.export.stiff import silent
from vbg.export.tables import codes, integers
from vbg.export.tuning import Tuning, Wish, tuned
from vbg.platform.files import replacing

# name -> target of zig, folder in FMI 3, folder in FMI 2, ending
PLATFORMS: Mapping[str, tuple[str, str, str, str]] = {
    "linux-x86_64": ("x86_64-linux-gnu.2.17", "x86_64-linux", "linux64", ".so"),
    "linux-aarch64": ("aarch64-linux-gnu.2.17", "aarch64-linux", "", ".so"),
    "windows-x86_64": ("x86_64-windows-gnu", "x86_64-windows", "win64", ".dll"),
    "macos-x86_64": ("x86_64-macos", "x86_64-darwin", "darwin64", ".dylib"),
    "macos-aarch64": ("aarch64-macos", "aarch64-darwin", "", ".dylib"),
}
INSTANCE = ("vbg_fmu.h", "vbg_fmu.c", "vbg_chart.c", "vbg_direction.c")
SPACE = UUID("5b0c1a3e-6a3b-4c5e-9a70-7662672d666d")  # of the tokens of machines
FLAGS = ("-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same archive for the same machine


def own_platform() -> str:
    """The platform of this machine."""
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, "")
    kind = {"amd64": "x86_64", "arm64": "aarch64"}
    processor = kind.get(platform.machine().lower(), platform.machine().lower())
    return f"{system}-{processor}"


def write_fmu(
    start: Start,
    path: str | Path,
    *,
    version: int = 3,
    platforms: Sequence[str] | None = None,
    outputs: Sequence[str] = (),
    tunable: Sequence[Wish] = (),
    tell: Callable[[str], None] = silent,
    step: float | None = None,
) -> None:
    """Writes the machine of `start` as an FMU, Model Exchange and Co-Simulation in one; with
    `step` [s] for a task of that period: Co-Simulation alone, in steps of that length and of
    bounded work (`vbg.export.realtime`), of which a step of the importer takes a whole number.

    `platforms`: those of PLATFORMS whose binaries go in (None: this machine's; empty: sources
    alone).  `outputs`: patterns of the signals that are outputs; the others are local variables.
    `tunable`: parameters of the file that stay parameters.  `tell` hears of what was chosen.

    Raises ModelError that names what C code has no place for, UsageError for platforms that
    there are not, without a compiler, for parameters that cannot stay (`vbg.export.tuning`) and
    for a step that the machine cannot take.
    """
    wanted = [own_platform()] if platforms is None else list(platforms)
    for name in wanted:
        if name not in PLATFORMS or not PLATFORMS[name][1 if version == 3 else 2]:
            known = [p for p, row in PLATFORMS.items() if row[1 if version == 3 else 2]]
            raise UsageError(f"platform {name!r}: FMI {version} has {', '.join(known)}.")
    machine, tuning = tuned(start, tunable)
    if step is not None:
        machine = with_step(machine, step, tell)
    tell_of(machine, tell)
    name = identifier(machine.name)
    held = {i.place for i in machine.inputs}
    chart = NO_CHART if machine.step else chart_of(machine.start, machine.discrete | held)
    variables = Variables(machine, tuple(outputs), tuning, chart)
    files = sources(machine, name, version, tuning)
    token = f"{{{uuid5(SPACE, ''.join(files.values()))}}}"
    files[f"{name}.c"] += _identity(name, token, chart) + _directions(machine, tuning)
    compiled = sorted(file for file in files if file.endswith(".c"))
    content: dict[str, bytes] = {f"sources/{f}": text.encode() for f, text in files.items()}
    if version == 3:
        content["modelDescription.xml"] = describe_3(variables, name, token, made_by())
        content["sources/buildDescription.xml"] = build_description(name, compiled)
    else:
        described = describe_2(variables, name, token, made_by(), compiled)
        content["modelDescription.xml"] = described
    content |= _pictures(variables, version)
    content["documentation/index.html"] = _page(variables).encode()
    with TemporaryDirectory() as folder:
        for file, text in files.items():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        for wish in wanted:
            place, octets = _binary(wish, Path(folder), name, compiled, version)
            content[place] = octets
    _zip(path, content)


def _pictures(variables: Variables, version: int) -> dict[str, bytes]:
    """The icon, and in FMI 3 the joints as connectors."""
    icon = icon_of(variables.machine.system.causal)
    if version == 2:
        return {} if icon is None else {"model.png": icon}
    described = describe_terminals(variables, icon=icon is not None)
    found = {"icon.png": icon, "terminalsAndIcons.xml": described}
    return {f"terminalsAndIcons/{name}": octets for name, octets in found.items() if octets}


def sources(machine: Machine, name: str, version: int, tuning: Tuning) -> dict[str, str]:
    """The files of C by name."""
    files = {file: shipped(file) for file in (*SHIPPED, *INSTANCE)}
    files["vbg_codes.h"] = codes()
    files[f"fmi{version}.c"] = shipped(f"fmi{version}.c")
    code = model_code(machine, name, tuning).replace(f'#include "{name}.h"', '#include "vbg_fmu.h"')
    files[f"{name}.c"] = code
    return files


def _identity(name: str, token: str, chart: Chart) -> str:
    return (
        f"\nconst vbg_model *const vbg_fmu_model = &machine_{name};\n"
        f'const char *const vbg_fmu_token = "{token}";\n'
        f"const int vbg_fmu_freedoms = {chart.freedoms}, vbg_fmu_postures = {chart.postures};\n"
        f"{integers('tiers', chart.tiers)}const int *const vbg_fmu_tier = tiers;\n"
    )


def _directions(machine: Machine, tuning: Tuning) -> str:
    """The tapes of derivatives along directions; none, and differences in their place, where
    numbers follow parameters or rows are redundant."""
    follow = bool(tuning.parameters)
    found = {} if follow else directions(machine.start, switching(machine.system))
    values = [f"&{name}_tape" if found else "0" for name in ("tilt", "direction")]
    return (
        f"\n{tapes_code(machine, found)}\n"
        f"const vbg_tape *const vbg_fmu_tilt = {values[0]};\n"
        f"const vbg_tape *const vbg_fmu_directions = {values[1]};\n"
    )


def _binary(
    wish: str, folder: Path, name: str, compiled: Sequence[str], version: int
) -> tuple[str, bytes]:
    """Place in the archive and content of the library for one platform."""
    target, third, second, ending = PLATFORMS[wish]
    flags = list(FLAGS)
    if wish == own_platform():
        command = find_compiler()
    else:
        command = zig()
    if "ziglang" in command:
        flags = [*flags, "-target", target]
    built = folder / f"{name}{ending}"
    compile_c(command, folder, compiled, built, flags)
    place = third if version == 3 else second
    return f"binaries/{place}/{name}{ending}", built.read_bytes()


def _page(variables: Variables) -> str:
    """What an importer shows: the machine's words and its variables."""
    machine = variables.machine
    rows = "\n".join(
        f"<tr><td>{escape(v.name)}</td><td>{v.causality}</td><td>{escape(v.unit)}</td></tr>"
        for v in variables.all
        if v.causality in ("input", "output", "parameter")
    )
    words = escape(machine.system.model.description or "")
    unlooked = "\n".join(f"<p>{escape(said)}</p>" for said in machine.unlooked)
    return f"""<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{escape(machine.name)}</title></head><body>
<h1>{escape(machine.name)}</h1>
<p>{words}</p>
<p>Made by {made_by()}; model {machine.system.model.hash}. SI units; angles in radians;
machines start at t = 0. Parameters of the model file that are not in this table are folded into
numbers and cannot be changed here.</p>
{unlooked}
<table>
<tr><th>variable</th><th></th><th>unit</th></tr>
{rows}
</table>
</body></html>
"""


def _zip(path: str | Path, content: Mapping[str, bytes]) -> None:
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in sorted(content):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content[name])
