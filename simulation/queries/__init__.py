"""Reads of `simulation`: rows -> frozen data."""
