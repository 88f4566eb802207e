"""Words of what is told of weak rows, by which a verdict knows them."""

POSTURE = "a posture beside which constraints hold too weakly (links in line, say)"
CONCERNED = " Concerned:"
