"""Pure functions over the cases of a benchmark of binary choices."""
