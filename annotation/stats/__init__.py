"""Statistics of human annotation: arrays in, frozen results out. Imports numpy and scipy, never the site."""
