"""Files of runs and studies: written while these run, read back with what may be trusted."""
