"""Efforts at a state: springs, stops, loads, laws of six dimensions, bending."""
