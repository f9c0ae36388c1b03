"""Benchmarks: built from votes or imported, cleaned, described, released. A released version never changes."""
