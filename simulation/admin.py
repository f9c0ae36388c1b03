"""Experiments, turns and orders of material as rows, for looking into trouble. Nothing is made or changed here."""

from __future__ import annotations

from django.contrib import admin

from judging.admin import ReadOnly
from simulation.agents.models import Agent
from simulation.experiments.models import Experiment, PreferenceType, SimulatedDialogue, Turn
from simulation.generation.models import Conflict, ConflictReview, Making


@admin.register(Agent)
class AgentAdmin(ReadOnly):
    list_display = ["provider", "model", "parameters", "created_at"]
    list_filter = ["provider"]


@admin.register(Experiment)
class ExperimentAdmin(ReadOnly):
    list_display = [
        "id",
        "name",
        "user_agent",
        "strategy",
        "created_at",
        "finished_at",
        "stopped_at",
        "worker",
        "error",
    ]
    list_select_related = ["user_agent", "worker"]


@admin.register(SimulatedDialogue)
class SimulatedDialogueAdmin(ReadOnly):
    list_display = ["experiment", "index", "assistant", "condition", "ending", "error"]
    list_select_related = ["experiment", "assistant"]
    list_filter = ["ending", "condition"]


@admin.register(Turn)
class TurnAdmin(ReadOnly):
    list_display = ["simulated", "number", "side", "problem", "cut", "latency_ms", "created_at"]
    list_select_related = ["simulated__experiment"]
    list_filter = ["side", "problem"]
    ordering = ["-pk"]


@admin.register(Making)
class MakingAdmin(ReadOnly):
    list_display = ["id", "kind", "agent", "created_at", "finished_at", "problem"]
    list_select_related = ["agent"]
    list_filter = ["kind"]


@admin.register(Conflict)
class ConflictAdmin(ReadOnly):
    list_display = ["profile", "label", "is_between_domains", "making"]
    list_select_related = ["profile", "making"]


admin.site.register([ConflictReview, PreferenceType], ReadOnly)
