"""Events: kinks and jumps of time known before the run, switching functions located in it.

In: switching programs and steps.  Out: the instants, and modes and states after each.
"""
