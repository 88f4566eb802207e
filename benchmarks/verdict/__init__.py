"""Whether the verdict is one: faults seeded, false alarms, every example and published problem."""
