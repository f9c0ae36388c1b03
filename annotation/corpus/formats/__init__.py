"""Chats, preferences and traces in the formats that tools and public datasets publish them in, by name.

Pure code. Each module knows one format: how its rows look, and the records that they become. `registry` lists them.
"""
