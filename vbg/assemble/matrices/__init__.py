"""The paper's matrices of a system, as numbers and symbols, and its conserved quantities.

In: a System and a state.  Out: named matrices.
"""
