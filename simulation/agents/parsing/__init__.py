"""From a reply to a turn, and from turns to how a dialogue ended. Pure functions."""
