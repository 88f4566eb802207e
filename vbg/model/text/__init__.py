"""Model files as documents: text, plain data, names, and the place of everything in the file.

In: text.  Out: documents with places, and problems of syntax.
"""
