"""Pictures made of character cells: pure functions from data to rows of text.

No terminal library is imported here; the terminal interface and the command
line print the same rows.
"""
