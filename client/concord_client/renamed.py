"""Names of earlier versions. Each works for one more release and says what to write instead."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from concord_client import types
from concord_client.methods import Methods

P = ParamSpec("P")
R = TypeVar("R")


def warn(old: str, new: str) -> None:
    """Warn whoever called the caller."""
    warnings.warn(f"{old} is now {new}; the old name goes with the next release", DeprecationWarning, stacklevel=3)


def rename(old: str, method: Callable[P, R]) -> Callable[P, R]:
    """Return the method under the name that it had."""

    @functools.wraps(method)
    def call(*given: P.args, **named: P.kwargs) -> R:
        warn(old, method.__name__)
        return method(*given, **named)

    return call


def accept_old_arguments(method: Callable[P, R], positions: Sequence[str] = (), **names: str) -> Callable[P, R]:
    """Return a method that also takes `positions` without their names, and arguments by the `names` that they had."""
    parameters = inspect.signature(method).parameters.values()
    n_placed = sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in parameters)

    @functools.wraps(method)
    def call(*given: P.args, **named: P.kwargs) -> R:
        placed, further = given[:n_placed], given[n_placed:]
        told: dict[str, Any] = dict(zip(positions, further, strict=False))
        for name in told:
            warn(f"{method.__name__}(…, {name})", f"{name}=")
        for old in names.keys() & named.keys():
            warn(f"{method.__name__}({old}=)", f"{names[old]}=")
        told |= {names.get(name, name): value for name, value in named.items()}
        return method(*placed, *further[len(positions) :], **told)  # type: ignore[arg-type]

    return call


class Renamed(Methods):
    """All methods, and the names that some of them had."""

    acts = rename("acts", Methods.audit_events)
    against_majority = rename("against_majority", Methods.majority_contradictions)
    ask_again = rename("ask_again", Methods.retry_unscored)
    ask_agreement = rename("ask_agreement", Methods.compute_agreement)
    ask_dialogue_measures = rename("ask_dialogue_measures", Methods.compute_dialogue_measures)
    ask_for_ratings = rename("ask_for_ratings", Methods.request_ratings)
    ask_more = rename("ask_more", Methods.extend_evaluation)
    ask_profile_measures = rename("ask_profile_measures", Methods.compute_profile_measures)
    ask_tiers = rename("ask_tiers", Methods.compute_tiers)
    combine = rename("combine", Methods.create_panel)
    compute = rename("compute", Methods.compute_assessment)
    differing = rename("differing", Methods.human_disagreement)
    evaluations_of = rename("evaluations_of", Methods.benchmark_evaluations)
    experiment_for_judges = rename("experiment_for_judges", Methods.create_judge_study)
    experiment_for_people = rename("experiment_for_people", Methods.create_people_study)
    forget_key = rename("forget_key", Methods.delete_key)
    grade = rename("grade", Methods.create_grading_study)
    graded = rename("graded", Methods.graded_choices)
    keep_key = rename("keep_key", Methods.set_key)
    known_item = rename("known_item", Methods.gold_question)
    known_items = rename("known_items", Methods.gold_questions)
    look = rename("look", Methods.access_held_out)
    make_project = rename("make_project", Methods.create_project)
    new_version = rename("new_version", Methods.create_judge_version)
    order = rename("order", Methods.generation)
    order_again = rename("order_again", Methods.retry_generation)
    order_material = rename("order_material", Methods.start_generation)
    orders = rename("orders", Methods.generations)
    progress = rename("progress", Methods.run_progress)
    retire_known = rename("retire_known", Methods.retire_gold_question)
    simulated = rename("simulated", Methods.simulated_dialogues)
    stocks = rename("stocks", Methods.dataset_counts)
    to_decide = rename("to_decide", Methods.adjudication_studies)

    add_annotators = accept_old_arguments(Methods.add_annotators, usernames="annotators")
    escalate_cascade = accept_old_arguments(Methods.escalate_cascade, ["name"])
    evaluate = accept_old_arguments(Methods.evaluate, key="idempotency_key")

    def admit(self, slug: str, annotator: str, *, reason: str, again: bool = False) -> types.Admission:
        warn("admit", "decide_admission")
        return self.decide_admission(slug, annotator, "again" if again else "admit", reason)

    def download_labels(self, slug: str, path: str | Path, *, format: str = "csv", tiers: bool = False) -> None:
        warn("download_labels", "export_labels")
        self.export_labels(slug, format, path, tiers=tiers)

    def name_decided(
        self, slug: str, purpose: Literal["check", "training", "qualification"], decided_in: str, *, round: int = 1
    ) -> int:
        warn("name_decided", "add_decided_gold_questions")
        return self.add_decided_gold_questions(slug, purpose, decided_in, round=round)["n"]

    def name_known(
        self,
        slug: str,
        purpose: Literal["check", "training", "qualification"],
        items: Sequence[types.NewKnownItem],
        *,
        round: int = 1,
    ) -> int:
        warn("name_known", "add_gold_questions")
        return self.add_gold_questions(slug, purpose, items, round=round)["n"]

    def remove_question(self, slug: str, key: str) -> int:
        warn("remove_question", "delete_question")
        return self.delete_question(slug, key)["erased"]

    def study_of_plan(
        self, slug: str, judge: int, name: str, *, criterion: str, width: float, **options: Any
    ) -> types.LabelPlan:
        warn("study_of_plan", "create_planned_study")
        return self.create_planned_study(slug, judge, criterion, width, name, **options)
