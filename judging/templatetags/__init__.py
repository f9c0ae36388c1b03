"""How judge pages write amounts."""
