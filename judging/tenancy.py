"""Whose the tables of `judging` are, and what its addresses name (see core/accounts/permissions.py)."""

from core.accounts import permissions
from core.accounts.permissions import RouteObject

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
        "judges/<int:pk>": ("judging.Judge", "pk"),
        "prices/<int:pk>": RouteObject.SITE,
        "judgments/<int:pk>": ("judging.Judgment", "pk"),
        "runs/<int:pk>": ("judging.JudgeRun", "pk"),
        "evaluations/<int:pk>": ("judging.Evaluation", "pk"),
        "evaluations/<int:pk>/failures/<int:judgment>": RouteObject.WITHIN,
        "studies/<slug:slug>/calibration/<int:pk>": ("judging.Judge", "pk"),
        "studies/<slug:slug>/results/<int:pk>": ("judging.Judge", "pk"),
        "studies/<slug:slug>/judges/<int:pk>": ("judging.Judge", "pk"),
        "projects/<slug:slug>/keys/<int:pk>": RouteObject.WITHIN,
        "certificates/<slug:sha256>": ("judging.Certificate", "sha256"),
    },
)
