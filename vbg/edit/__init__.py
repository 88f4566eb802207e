"""Edits of a model file's text: a command turns a text into the next one, all else stays as it is.

What goes in is a text and what is to be changed; out comes the text with its comments, order
and spelling kept.  Fixes are edits that a problem of `vbg check` suggests.
"""
