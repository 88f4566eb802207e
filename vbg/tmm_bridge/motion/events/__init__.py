"""What happens within no time: impulses, latches, sticking, jumps of laws, values that end."""
