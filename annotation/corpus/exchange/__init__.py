"""Other tools' formats: a study with its items and answers, written down for them and read from them.

Pure code. Each module knows one tool: what its files look like, and what they cannot carry.
"""
