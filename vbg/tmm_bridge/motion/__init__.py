"""Time integration of a Mechanism, and the signals of its run.

In: a Mechanism and its start.  Out: states at the output instants, and channels under the names
of the Model.  `rate` is the mechanism at one instant, `steps` are of the methods, `events` are
between steps, `at_stops` is the state where an input jumps, `integration` has all of them and
gives a `trajectory`, `signals` come behind it.
"""
