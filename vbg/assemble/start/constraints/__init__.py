"""Loops closed, speeds admissible: which rows are independent, how well, what they decide."""
