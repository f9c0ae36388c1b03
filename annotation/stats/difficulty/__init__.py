"""Difficulty of items from ratings of a few people: items and people fitted together."""
