"""From block expressions to tapes, and the machines that play them.

In: named block expressions.  Out: a Program, and evaluators of it (compiled, and the numpy
reader).
"""
