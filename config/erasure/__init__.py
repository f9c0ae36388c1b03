"""Erasing a person: the account becomes a number, and a restored backup is held to it."""
