"""Integrators behind one small face, their tolerances and Jacobians, and the choice among them.

In: rates of a System.  Out: steps with dense output.
"""
