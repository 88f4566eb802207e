"""Time integration of a System."""

from vbg.plumbing.callable_module import answers_calls
from vbg.simulate.instants.drives import drives_told
from vbg.simulate.run import simulate
from vbg.simulate.settings import METHODS

__all__ = ["METHODS", "drives_told", "simulate"]

# the public step of the pipeline knows more starts than the written one
answers_calls(__name__, "vbg.starting:simulate")
