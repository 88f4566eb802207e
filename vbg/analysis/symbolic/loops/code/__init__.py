"""Programs of minimal equations that run by themselves.

In: `MinimalEquations`.  Out: texts in Python, C99 and Fortran 2008.
"""
