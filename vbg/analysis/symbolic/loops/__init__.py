"""Symbolic equations of motion of machines with closed loops, in minimal coordinates.

In: a System.  Out: `MinimalEquations`: closures, mass matrix, loads, joint forces; code of them.
"""
