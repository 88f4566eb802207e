"""How right vbg is: beside oracles, other engines, published digits, older commits."""
