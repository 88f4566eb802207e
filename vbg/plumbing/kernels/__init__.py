"""Compiled kernels: made by numba, kept as machine code, called without it.

In: functions.  Out: the same functions, compiled.  `compiled` is what the other rooms use.
"""
