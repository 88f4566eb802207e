"""Functional mock-up units as parts: what a file says of itself, whether it may run, and the
child process in which it does."""
