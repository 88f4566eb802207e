"""How fast vbg is, beside its goals and its peers in the same run."""
