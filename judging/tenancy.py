"""Whose the tables of `judging` are, and what its addresses name (see core/accounts/permissions.py)."""

from django.urls.converters import IntConverter, SlugConverter

from core.accounts import permissions
from core.accounts.permissions import AddressPart

permissions.register(
    ways={
        "judging.Judge": "project",
        "judging.JudgeRun": "study__project",
        "judging.Judgment": "run__study__project",
        "judging.Evaluation": "benchmark__project",
        "judging.Certificate": "study__project",
        "judging.ModelKey": "project",
    },
    parts={
        "judge": AddressPart(IntConverter, ("judging.Judge", "pk")),
        "judgment": AddressPart(IntConverter, ("judging.Judgment", "pk")),
        "run": AddressPart(IntConverter, ("judging.JudgeRun", "pk")),
        "evaluation": AddressPart(IntConverter, ("judging.Evaluation", "pk")),
        "certificate": AddressPart(SlugConverter, ("judging.Certificate", "sha256")),
    },
)
