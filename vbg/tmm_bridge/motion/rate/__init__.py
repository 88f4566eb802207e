"""A mechanism at one instant: rate, closure, dependent stores, sizes of its states, inputs."""
