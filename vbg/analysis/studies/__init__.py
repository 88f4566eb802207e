"""Many runs of one model: samples, sweeps, optima, and the table that they fill.

In: a Model, what varies and what is measured.  Out: rows of a results table.
"""
