"""Functional mock-up units: a machine for other programs, FMI 2.0 and 3.0.

In: a Machine.  Out: an archive with its description, sources and binaries.
"""

from vbg.export.fmu.archive import PLATFORMS, write_fmu

__all__ = ["PLATFORMS", "write_fmu"]
