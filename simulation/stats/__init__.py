"""Statistics of simulated material: how even its values are, how varied its words. Pure functions."""
