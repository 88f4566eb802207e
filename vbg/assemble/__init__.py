"""From the causal graph to a system that can be evaluated, and where its motion starts."""

from vbg.assemble.assembling import assemble
from vbg.assemble.start.given import start_at
from vbg.assemble.start.start import Start, assemble_start
from vbg.assemble.system import System
from vbg.plumbing.callable_module import answers_calls

__all__ = ["Start", "System", "assemble", "assemble_start", "start_at"]

answers_calls(__name__, assemble)
