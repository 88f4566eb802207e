"""Questions in a box: a choice, a text, a page to read; keys in, an answer out."""
