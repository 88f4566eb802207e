"""Processes beside the terminal interface: solver, jobs, studies, validations."""
