"""Whose the tables of `simulation` are, and what its addresses name (see core/accounts/permissions.py)."""

from core.accounts import permissions

permissions.register(
    ways={
        "simulation.Experiment": "project",
        "simulation.Making": "project",
        "simulation.CandidateRun": "project",
        "simulation.Conflict": "making__project",
    },
    parts={
        "experiments/<int:pk>": ("simulation.Experiment", "pk"),
        "making/<int:pk>": ("simulation.Making", "pk"),
        "candidates/<int:pk>": ("simulation.CandidateRun", "pk"),
        "candidates/runs/<int:pk>": ("simulation.CandidateRun", "pk"),
        "conflicts/<int:pk>": ("simulation.Conflict", "pk"),
    },
)
