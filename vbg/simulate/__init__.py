"""Time integration of a System."""

from vbg.plumbing.callable_module import answers_calls
from vbg.plumbing.lazily import names_of

_HOMES = {
    "METHODS": "vbg.simulate.settings",
    "drives_told": "vbg.simulate.instants.drives",
    "simulate": "vbg.simulate.simulating",
}

__all__ = sorted(_HOMES)

__getattr__ = names_of(__name__, _HOMES)

# the public step of the pipeline knows more starts than the written one
answers_calls(__name__, "vbg.starting:simulate")
