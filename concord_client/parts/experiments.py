"""Simulated dialogues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from concord_client import types
from concord_client.transport import Json, Transport


class Experiments(Transport):
    """Simulated dialogues."""

    def experiments(self, **query: Any) -> Iterator[types.Experiment]:
        """Experiments."""
        return self.rows("experiments", **query)

    def start_experiment(self, **options: Any) -> types.Experiment:
        """Start an experiment: name, user_agent, assistants, conditions, users, tasks, …"""
        return cast(types.Experiment, self.post("experiments", options))

    def estimate_experiment(self, **options: Any) -> types.ExperimentEstimate:
        """What an experiment would take; nothing is made."""
        return cast(types.ExperimentEstimate, self.post("experiments/estimate", options))

    def experiment(self, experiment: int) -> types.Experiment:
        return cast(types.Experiment, self.get(f"experiments/{experiment}"))

    def experiment_progress(self, experiment: int) -> types.ExperimentProgress:
        """How far an experiment is."""
        return cast(types.ExperimentProgress, self.get(f"experiments/{experiment}/progress"))

    def stop_experiment(self, experiment: int) -> types.Experiment:
        """Stop an experiment; every turn is kept."""
        return cast(types.Experiment, self.post(f"experiments/{experiment}/stop"))

    def resume_experiment(self, experiment: int, **options: Any) -> types.Experiment:
        """Go on with an experiment: budget_usd."""
        return cast(types.Experiment, self.post(f"experiments/{experiment}/resume", options))

    def simulated(self, experiment: int, **query: Any) -> Iterator[types.Simulated]:
        """The dialogues of an experiment; ending narrows them down."""
        return self.rows(f"experiments/{experiment}/dialogues", **query)

    def simulated_dialogue(self, experiment: int, index: int) -> types.SimulatedWhole:
        """A dialogue of an experiment, turn by turn."""
        return cast(types.SimulatedWhole, self.get(f"experiments/{experiment}/dialogues/{index}"))

    def experiment_results(self, experiment: int, **query: Any) -> Json:
        """All tables of an experiment by one judge: judge."""
        return cast(Json, self.get(f"experiments/{experiment}/results", **query))

    def compute_experiment_results(self, experiment: int, **options: Any) -> Json:
        """Let a worker compute the tables of a large experiment: judge, filters."""
        return cast(Json, self.post(f"experiments/{experiment}/results", options))

    def experiment_ranks(self, experiment: int, **query: Any) -> Json:
        """How ranks change by another judge, or in another experiment: against, against_judge."""
        return cast(Json, self.get(f"experiments/{experiment}/ranks", **query))

    def experiment_differences(self, experiment: int) -> types.ComparedSettings:
        """The settings of an experiment beside those of PersonaLens."""
        return cast(types.ComparedSettings, self.get(f"experiments/{experiment}/differences"))

    def experiment_for_people(self, experiment: int, **options: Any) -> types.MadeStudy:
        """A sample of the dialogues as a study for people: n."""
        return cast(types.MadeStudy, self.post(f"experiments/{experiment}/people", options))

    def experiment_for_judges(self, experiment: int, **options: Any) -> types.MadeStudy:
        """All dialogues as a study for judges: user_checks."""
        return cast(types.MadeStudy, self.post(f"experiments/{experiment}/judge", options))
