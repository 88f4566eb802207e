"""Machines as C99 code and as functional mock-up units (FMI).

In: an assembled Start.  Out: folders and archives that need nothing of vbg any more.
"""

from vbg.export.code import write_code
from vbg.export.machine import Machine, exported

__all__ = ["Machine", "exported", "write_code"]
