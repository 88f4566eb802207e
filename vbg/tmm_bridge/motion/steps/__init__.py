"""Steps of integration methods, what is between their ends, and across a singular posture."""
