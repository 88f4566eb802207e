"""Start values of stores and modes: those that were written, those that follow, those that lack."""
