"""Events: switching functions located in the run, and the modes that follow them.

In: switching programs and steps.  Out: the instants, and modes and states after each.
"""
