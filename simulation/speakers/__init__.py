"""Who speaks in a simulated dialogue."""
