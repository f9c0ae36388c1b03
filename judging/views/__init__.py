"""Pages of `judging`, for researchers only."""
