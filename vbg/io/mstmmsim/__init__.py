"""MSTMMSim's parameter file (mstmmsim.txt, "Parameter definition file"), read and written.

In comes the text of an .xml file, out comes the document of a model and notes of
everything that was not taken exactly as written; and the other way round.
"""

from vbg.io.mstmmsim.files import read, read_with_notes, write
from vbg.io.mstmmsim.reading import Imported, imported
from vbg.io.mstmmsim.writing import to_xml

__all__ = ["Imported", "imported", "read", "read_with_notes", "to_xml", "write"]
