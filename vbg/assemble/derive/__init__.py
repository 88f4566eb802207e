"""From a causal graph to its equations, as block expressions.

In: a CausalGraph.  Out: Equations: rates, constraint rows, corrections, energies.
"""
