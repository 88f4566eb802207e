"""What a hand, an editor, a crash or a bad intention does to vbg."""
