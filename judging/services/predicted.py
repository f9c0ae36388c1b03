"""Difficulty of items that nobody rated, with what judges say of them among the features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from annotation.models import Criterion, Study
from annotation.queries import ratings
from annotation.services import predicted
from annotation.services.predicted import STUDY, Prediction, PredictionOptions
from annotation.stats.difficulty.features import Opinions, judge_columns
from annotation.stats.table import FloatArray
from judging.queries.evidence import JudgeEvidence, StudyEvidence
from judging.stats.observed import Said


def predict(study: Study, criterion: Criterion, options: PredictionOptions | None = None) -> Prediction:
    """The prediction of one criterion. A constant number of queries.

    Of held-out items no judgment is read: there a judge is looked at on record only.
    """
    chosen = options or PredictionOptions()
    judged = _columns(study, criterion) if chosen.scope == STUDY and not criterion.of_turns else None
    return predicted.predict(study, ratings.of_criterion(criterion), chosen, judged=judged)


def of_criterion(study: Study, criterion: Criterion, options: PredictionOptions | None = None) -> dict[str, Any]:
    """Its document."""
    return predict(study, criterion, options).as_json(study, criterion.key)


def in_a_sentence(found: Mapping[str, Any]) -> str:
    """Whether difficulty can be predicted here, from a document."""
    if found["error"] is None:
        return f"Difficulty cannot be predicted here: {found['reason']}."
    error, of = found["error"], f"Out of sample, on {found['n_rated']} rated items, "
    gain = _in_words(error["gain"], "{:.1%}")
    if not found["predicts"]:
        return f"Difficulty cannot be predicted here. {of}the squared error is {gain} below that of guessing the mean."
    rank = _in_words(error["rank_correlation"], "{:.2f}")
    return (
        f"Difficulty can be predicted here. {of}the squared error is {gain} below that of guessing the mean; the rank "
        f"correlation with fitted difficulty is {rank}."
    )


def _in_words(estimate: Mapping[str, Any], form: str) -> str:
    if estimate["value"] is None:
        return "an unknown amount"
    if estimate["low"] is None:
        return f"{form.format(estimate['value'])} (no interval)"
    return " ".join((form.format(estimate["value"]), f"[{form}, {form}]".format(estimate["low"], estimate["high"])))


def _columns(study: Study, criterion: Criterion) -> dict[str, FloatArray]:
    """What all judges say of the study's items, in their order."""
    evidence = StudyEvidence.read(study)
    found = [one for one in evidence.of_each(evidence.judges()) if criterion.key in one.evidence]
    positions = list(study.items.order_by("position").values_list("position", flat=True))
    place = {str(position): row for row, position in enumerate(positions)}
    rows = np.array([place[name] for name in evidence.material.names], dtype=np.int64)
    columns = judge_columns([opinions_of(one, criterion) for one in found], criterion.values)
    spread = {name: np.full(len(positions), np.nan) for name in columns}
    for name, column in columns.items():
        spread[name][rows] = column
    return spread


def opinions_of(judge: JudgeEvidence, criterion: Criterion) -> Opinions:
    """What a judge said of the items of its evidence: its calls are the repeats, else the two orders of a pair."""
    said: Said = judge.evidence[criterion.key].said
    calls = said.repeated if said.repeated.shape[1] > 1 else np.column_stack([said.first, said.second])
    return Opinions(said.codes, said.asked, calls, said.confidence)
