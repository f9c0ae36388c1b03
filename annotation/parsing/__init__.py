"""Files and texts from outside -> checked records (pure: no Django, no network)."""
