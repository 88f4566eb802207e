"""Robots from URDF files.

In: the XML text of a robot.  Out: a document of a model file, and notes on everything that
could not be said in it or had to be changed.  `robot` reads, `lump` joins what is rigid,
`shared` gives mass where it lacks, `document`
makes the model file; `writing` goes the other way.
"""

from vbg.io.urdf.document import Imported, read, to_document
from vbg.io.urdf.writing import to_urdf, write

__all__ = ["Imported", "read", "to_document", "to_urdf", "write"]
