"""Pages of `simulation`."""
