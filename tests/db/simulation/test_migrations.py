"""What the migrations do with rows that were there before."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from simulation.experiments.models import Experiment, SimulatedDialogue
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_vanilla_of_before_is_without_instruction():
    """Only in dialogues that were simulated; what was imported keeps its condition."""
    experiment = factories.ExperimentFactory(conditions=["vanilla", "base"])
    made = factories.DialogueFactory(condition="vanilla")
    factories.SimulatedDialogueFactory(experiment=experiment, condition="base")
    row = factories.SimulatedDialogueFactory(experiment=experiment, condition="vanilla")
    SimulatedDialogue.objects.filter(pk=row.pk).update(ending="done", ended_at=row.experiment.created_at, dialogue=made)
    imported = factories.DialogueFactory(condition="vanilla")

    import_module("simulation.migrations.0010_exchanges").kept_as_they_were(apps, None)

    for one in (made, imported):
        one.refresh_from_db()
    assert Experiment.objects.get().conditions == ["none", "base"]
    assert "at most four sentences" in Experiment.objects.get().prompts["assistant"]
    assert list(SimulatedDialogue.objects.order_by("index").values_list("condition", flat=True)) == ["base", "none"]
    assert (made.condition, imported.condition) == ("none", "vanilla")
