"""The discrete-time method: explicit small steps, joints as stiff bushings.

In: a System and its start.  Out: recorded rows, like every other run.
"""
