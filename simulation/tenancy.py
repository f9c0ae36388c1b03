"""Whose the tables of `simulation` are, and what its addresses name (see core/accounts/permissions.py)."""

from django.urls.converters import IntConverter

from core.accounts import permissions
from core.accounts.permissions import AddressPart

permissions.register(
    ways={
        "simulation.Experiment": "project",
        "simulation.Making": "project",
        "simulation.CandidateRun": "project",
        "simulation.Conflict": "making__project",
    },
    parts={
        "experiment": AddressPart(IntConverter, ("simulation.Experiment", "pk")),
        "making": AddressPart(IntConverter, ("simulation.Making", "pk")),
        "candidates": AddressPart(IntConverter, ("simulation.CandidateRun", "pk")),
        "conflict": AddressPart(IntConverter, ("simulation.Conflict", "pk")),
    },
)
