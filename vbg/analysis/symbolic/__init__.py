"""State equations in symbols, numbers written by the parameters again, as text, LaTeX and code.

In: a System.  Out: symbolic equations and their texts.
"""
