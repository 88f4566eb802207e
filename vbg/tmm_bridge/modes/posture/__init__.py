"""A mechanism linear about a posture at rest: loads, hinges, closed loops, flexible bodies."""
