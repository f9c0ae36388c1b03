"""Studies written for other tools and made from their files."""
