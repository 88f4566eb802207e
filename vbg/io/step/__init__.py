"""Assemblies of STEP files as model files.

In: the solids of an assembly (`vbg.solids.step`).  Out: the document of a model file with one
body for each, and proposals of joints with the evidence for them.
"""

from vbg.io.step.document import Imported, read
from vbg.io.step.proposals import Proposal, proposals

__all__ = ["Imported", "Proposal", "proposals", "read"]
