"""Assemblies of STEP files as model files.

In: the solids of an assembly (`vbg.solids.step`).  Out: the document of a model file with one
body for each, and proposals of joints with the evidence for them.  `writing` goes the
other way: the machine's solids as they stand.
"""

from vbg.io.step.document import Imported, read
from vbg.io.step.writing import write

__all__ = ["Imported", "read", "write"]
