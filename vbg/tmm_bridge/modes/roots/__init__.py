"""Poles with the digits that they have: characteristic polynomials and their roots."""
