"""What `vbg show` can show, one module each, with `PLACE` and `register(subparsers)`."""
