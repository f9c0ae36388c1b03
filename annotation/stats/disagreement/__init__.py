"""Disagreement as information: how far a judge is from people's answers, and what makes people differ."""
