"""From one table of a document to the instance of its part: one function for each form of
field.

In: a table and the part's declared fields.  Out: the part, and problems.
"""
