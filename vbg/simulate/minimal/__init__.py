"""Runs in independent coordinates (`formulation = "minimal"`).

In: a System and a state on its constraints.  Out: a stepper whose steps end on the constraints.
"""
