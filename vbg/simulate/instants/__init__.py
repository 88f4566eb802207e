"""Instants known before the run: kinks and jumps of time, places where it changes fast, clocks.

In: functions of time and clocks of a system.  Out: the instants, and what is sampled there.
"""
