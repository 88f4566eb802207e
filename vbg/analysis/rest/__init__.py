"""Operating points: where a machine rests or moves steadily.

In: a System and what the engineer holds.  Out: an OperatingPoint.
"""
