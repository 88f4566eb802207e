"""Everything that is a formula of time and state: a tape of scalar operations, inputs of time.

In: expressions of the Model.  Out: tapes and time functions that kernels play.
"""
