"""FMUs for every platform, read by another program.

``python -m benchmarks.accuracy.platforms [--fmi 2]``

The slider-crank with binaries for all platforms: format, processor and exported functions of each
library as `lief` reads them, beside the functions of the standard; and on this machine the same
sources compiled by the system's compiler and by zig: largest difference of the rates of random
states, of the largest rate.  Needs the extras fmu and
bench; the first use of a platform takes minutes.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import vbg
from vbg.export.code import shipped
from vbg.export.compiler import compile_c, find_compiler, zig
from vbg.export.fmu import PLATFORMS, write_fmu
from vbg.export.fmu.archive import FLAGS, own_platform

FORMATS = {"linux": "ELF", "windows": "PE", "macos": "MACHO"}
PROCESSORS = {"x86_64": ("X86_64", "AMD64"), "aarch64": ("AARCH64", "ARM64")}


def functions(version: int) -> set[str]:
    """The functions of the standard, as their C file defines them."""
    text = shipped(f"fmi{version}.c")
    found = set(re.findall(rf"FMI{version}\(.*\) (fmi{version}\w+)\(", text))
    found |= {
        f"fmi{version}{verb}{n}"
        for n in re.findall(r"^NONE\((\w+)", text, re.M)
        for verb in ("Get", "Set")
    }
    found |= set(re.findall(r"^NO_CLOCK\((\w+)", text, re.M))
    return found | {f"fmi2Get{n}" for n in re.findall(r"^STATE\((\w+)", text, re.M)}


def libraries(
    start: vbg.Start, version: int, folder: Path, chosen: Iterable[str] = tuple(PLATFORMS)
) -> None:
    """One line for each platform that is chosen and that the version knows."""
    import lief

    wanted = functions(version)
    for platform, (_, third, second, ending) in PLATFORMS.items():
        place = third if version == 3 else second
        if not place or platform not in chosen:
            continue
        path, began = folder / f"{platform}.fmu", time.monotonic()
        write_fmu(start, path, version=version, platforms=[platform])
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.startswith(f"binaries/{place}/"))
            octets = archive.read(name)
        assert name.endswith(ending)
        library = lief.parse(list(octets))
        exported = {str(f.name).lstrip("_") for f in library.exported_functions}
        system, processor = platform.split("-")
        header = library.header
        machine = getattr(
            header, "machine_type", getattr(header, "machine", getattr(header, "cpu_type", None))
        )
        good = library.format.name == FORMATS[system] and any(
            p in str(machine).upper() for p in PROCESSORS[processor]
        )
        missing = wanted - exported
        others = {n for n in exported if n.startswith("vbg")}
        verdict = "ok" if good and not missing and not others else "WRONG"
        print(
            f"{platform:16} {library.format.name:6} {machine!s:24} {len(octets) / 1e3:7.0f} kB"
            f" {len(wanted) - len(missing)} of {len(wanted)} functions, {len(others)} of its own"
            f" {time.monotonic() - began:6.1f} s  {verdict}"
        )


def compilers(start: vbg.Start, folder: Path) -> float:
    """Rates of the same states by two compilers, read by FMPy: largest difference of the
    largest."""
    import fmpy
    from fmpy.fmi3 import FMU3Model

    path = folder / "own.fmu"
    write_fmu(start, path)
    described = fmpy.read_model_description(str(path))
    found = []
    for command in (find_compiler(), zig()):
        unpacked = Path(fmpy.extract(str(path)))
        library = next(unpacked.glob(f"binaries/*/*{PLATFORMS[own_platform()][3]}"))
        sources = sorted(file.name for file in (unpacked / "sources").glob("*.c"))
        compile_c(command, unpacked / "sources", sources, library, FLAGS)
        fmu = FMU3Model(
            guid=described.guid,
            unzipDirectory=str(unpacked),
            modelIdentifier=described.modelExchange.modelIdentifier,
            instanceName="one",
        )
        fmu.instantiate()
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        fmu.updateDiscreteStates()
        fmu.enterContinuousTimeMode()
        found.append(rates(fmu, described.numberOfContinuousStates))
    apart = float(np.abs(found[0] - found[1]).max() / np.abs(found[0]).max())
    print(f"{find_compiler()[0]} beside zig, {len(found[0])} rates: {apart:.1e} of the largest")
    return apart


def rates(fmu: Any, count: int) -> np.ndarray:
    """Of random states near the start."""
    states, derivatives = (ctypes.c_double * count)(), (ctypes.c_double * count)()
    fmu.getContinuousStates(states, count)
    x = np.array(states) + 1e-3 * np.random.default_rng(1).normal(size=count)
    fmu.setContinuousStates((ctypes.c_double * count)(*x), count)
    fmu.getContinuousStateDerivatives(derivatives, count)
    return np.array(derivatives)


def main(version: int) -> None:
    start = vbg.start(vbg.assemble(vbg.read("examples/slider-crank.toml")))
    with TemporaryDirectory() as folder:
        compilers(start, Path(folder))
        libraries(start, version, Path(folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fmi", type=int, choices=(2, 3), default=3)
    main(parser.parse_args().fmi)
