"""Robots from URDF files.

In: the XML text of a robot.  Out: a document of a model file, and notes on everything that
could not be said in it or had to be changed.  `robot` reads, `lump` joins what is rigid,
`document` writes.
"""

from vbg.io.urdf.document import Imported, read, to_document

__all__ = ["Imported", "read", "to_document"]
