"""Comparing two solutions of one model: values, what is paired, its scales, its judgement."""
