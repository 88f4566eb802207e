"""The interpreter run many times: stages, steps, series of states, projections."""
