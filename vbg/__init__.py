"""vbg: machines of many domains as vector bond graphs.

    model    = vbg.read("slider-crank.toml")
    problems = vbg.check(model)
    system   = vbg.assemble(model)
    solution = vbg.simulate(system, t_end=1.0)
    solution["A.force"]

Every name below is a step of the pipeline or a value it passes on; each is
imported when it is first used, so that `import vbg` is instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "AssemblyError": "vbg.errors",
    "BondGraph": "vbg.graph",
    "CausalGraph": "vbg.causality",
    "CausalityError": "vbg.errors",
    "Model": "vbg.model",
    "Placed": "vbg.model",
    "ModelError": "vbg.errors",
    "Problem": "vbg.errors",
    "Solution": "vbg.solution",
    "Start": "vbg.assemble",
    "System": "vbg.assemble",
    "UsageError": "vbg.errors",
    "VbgError": "vbg.errors",
    "allow_fmu": "vbg.fmi.permission",
    "assemble": "vbg.assemble",
    "assign": "vbg.causality",
    "check": "vbg.model",
    "expand": "vbg.graph",
    "load": "vbg.io.runs.results",
    "place": "vbg.model",
    "read": "vbg.io.toml",
    "save": "vbg.io.runs.results",
    "simulate": "vbg.starting",
    "start": "vbg.starting:start",
    "write": "vbg.io.toml",
}
_PACKAGES = ("analysis", "draw", "structure", "tmm_bridge", "validate")

__all__ = sorted((*_HOMES, *_PACKAGES))


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        home, _, attribute = _HOMES[name].partition(":")
        return getattr(import_module(home), attribute or name)
    if name in _PACKAGES:
        return import_module(f"vbg.{name}")
    raise AttributeError(f"module 'vbg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
