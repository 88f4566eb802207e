"""Time integration of a System."""

from vbg.plumbing.callable_module import answers_calls
from vbg.simulate.events.drives import drives_told
from vbg.simulate.run import METHODS, simulate

__all__ = ["METHODS", "drives_told", "simulate"]

answers_calls(__name__, simulate)
