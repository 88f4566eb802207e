"""Linear state space about an operating point: modes, responses, loops and margins.

In: a System and an OperatingPoint.  Out: a Linearisation and what follows from it.
"""
