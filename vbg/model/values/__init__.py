"""Numbers with units and parameters, within bounds.

In: what is written at a key.  Out: SI numbers, and problems.
"""
