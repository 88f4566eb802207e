"""Compiled kernels of the implicit method: its linear systems, its polynomial, its steps.

In: a program, a `Step`.  Out: in its arrays.
"""
