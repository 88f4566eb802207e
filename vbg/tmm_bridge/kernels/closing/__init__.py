"""Closed loops: their rows, which of them are independent, their cut efforts."""
