"""What follows from a System without simulating it: operating points and linear analysis.

Each name is imported when it is first used: a run that begins as written needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Band": "vbg.analysis.linear.crossings",
    "Crossing": "vbg.analysis.linear.crossings",
    "FrequencyResponse": "vbg.analysis.linear.response",
    "Linearisation": "vbg.analysis.linear.linear",
    "Margins": "vbg.analysis.linear.crossings",
    "Mode": "vbg.analysis.linear.modes",
    "OperatingPoint": "vbg.analysis.rest.operating",
    "TransferFunction": "vbg.analysis.linear.response",
    "available_inputs": "vbg.analysis.probe.probe",
    "band": "vbg.analysis.linear.crossings",
    "frequency_response": "vbg.analysis.linear.response",
    "linearise": "vbg.analysis.linear.linear",
    "margins": "vbg.analysis.linear.crossings",
    "operating_point": "vbg.analysis.rest.operating",
    "root_locus": "vbg.analysis.linear.response",
    "step_response": "vbg.analysis.linear.response",
    "transfer_function": "vbg.analysis.linear.response",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'vbg.analysis' has no attribute {name!r}")
