"""Expressions in other forms of the same value: multiplied out, shorter, with common parts named,
as texts of languages.

In and out: sympy's expressions and matrices.  Nothing here knows a machine.
"""
