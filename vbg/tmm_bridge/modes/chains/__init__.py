"""Vibrating chains: their elements, their count of frequencies, responses."""
