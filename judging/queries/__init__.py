"""Reads: each module asks the database for what one page or one computation needs, in a constant number of queries."""
