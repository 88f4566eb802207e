"""Where the nodes are and how they move, from the root to the tips."""
