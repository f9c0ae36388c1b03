"""Why people differ, and how far a judge is from their answers, on one criterion: disagreement as information."""

from __future__ import annotations

from typing import Literal

import numpy as np
from django.utils.translation import gettext as _, gettext_noop

from annotation.stats.clustered import estimate_clustered_means, number_units
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.disagreement.distance import distances
from annotation.stats.disagreement.sets import LEVEL, contiguous_sets
from annotation.stats.disagreement.sources import sources
from annotation.stats.disagreement.taste import taste
from annotation.stats.table import MISSING, FloatArray, RatingTable
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.guidelines import versions_given
from judging.assessment.agreement_types import (
    DisagreementSourcesDocument,
    SetsDocument,
    SourcesOrWhyDocument,
    TasteOrWhyDocument,
)
from judging.assessment.queries.assessment_data import JudgeData
from judging.assessment.services.disagreements import criteria_called
from judging.stats.assessment_data import AssessmentData

SEED = 0
Source = Literal["observed", "expected", "severity", "carelessness", "items", "guideline"]
SOURCES: dict[Source, str] = {
    "observed": gettext_noop("all pairs of people, as observed"),
    "expected": gettext_noop("all pairs of people, by the model"),
    "severity": gettext_noop("because some are more severe"),
    "carelessness": gettext_noop("because some are less consistent than the average"),
    "items": gettext_noop("what equally severe, consistent people keep: the items"),
    "guideline": gettext_noop("because the guideline changed between answers, of what is observed"),
}
"""Parts of people's disagreement, in words."""
NOT_FITTED = "the difficulty model does not fit: {why}"
LEAST_ITEMS = 40
"""Items with a person's answer and a verdict, half of which sets are calibrated on."""


def compute_criterion(criterion: Criterion, one: AssessmentData) -> DisagreementSourcesDocument:
    """Distances of the judge, sources of people's disagreement, camps of taste, and sets. At most two queries."""
    table = one.people.table
    told = compute_shares(one)
    return {
        "distance": distances(table, told, seed=SEED).to_json(),
        "sources": _find_sources(criterion, table),
        "taste": _find_taste(table),
        "sets": sets(table, told, seed=SEED),
        "seed": SEED,
    }


def compute_judge(evidence: JudgeData, criterion: str = "") -> dict[str, DisagreementSourcesDocument]:
    """By criterion, or on one of them, what `of_criterion` finds. InputError where there is no such criterion."""
    asked = criteria_called(evidence, criterion)
    return {one.key: compute_criterion(one, evidence.evidence[one.key]) for one in asked}


def _find_sources(criterion: Criterion, table: RatingTable) -> SourcesOrWhyDocument:
    try:
        return {**sources(table, versions=versions_given(criterion, table), seed=SEED).to_json(), "reason": None}
    except NoConvergenceError as why:
        return {"reason": NOT_FITTED.format(why=why)}


def _find_taste(table: RatingTable) -> TasteOrWhyDocument:
    try:
        return {**taste(table, seed=SEED).to_json(), "reason": None}
    except NoConvergenceError as why:
        return {"reason": NOT_FITTED.format(why=why)}


def compute_shares(one: AssessmentData) -> FloatArray:
    """(n, q) shares of each category among the judge's calls on an item; NaN without a verdict."""
    q = one.table.n_categories
    calls = one.said.repeated if one.said.repeated.shape[1] > 1 else one.said.codes[:, None]
    counts = (calls[:, :, None] == np.arange(q)).sum(axis=1).astype(float)
    given = (one.said.codes != MISSING) & (counts.sum(axis=1) > 0)
    counts[~given] = np.nan
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def sets(table: RatingTable, told: FloatArray, *, seed: int) -> SetsDocument:
    """Neighbouring answers about the verdict that hold a person's: made on half the clusters, tested on the others."""
    if not table.has_scores:
        return {"reason": "the scale has no order"}
    rows = np.flatnonzero((table.ratings_per_item > 0) & ~np.isnan(told).any(axis=1))
    if len(rows) < LEAST_ITEMS:
        return {"reason": f"{len(rows)} items with an answer and a verdict; {LEAST_ITEMS} are needed"}
    rng = np.random.default_rng(seed)
    answers = np.array([rng.choice(codes[codes != MISSING]) for codes in table.codes[rows]])
    clusters = [(table.clusters or table.items)[row] for row in rows]
    unit, n_units = number_units(clusters)
    half = np.isin(unit, rng.permutation(n_units)[: n_units // 2])
    found = contiguous_sets(told[rows][half], answers[half], told[rows][~half])
    holds = found.holds[np.arange(len(found.holds)), answers[~half]]
    columns = np.column_stack([holds, found.size])
    tested = [cluster for cluster, left in zip(clusters, ~half, strict=True) if left]
    covered, size = estimate_clustered_means(columns.astype(float), tested, seed=seed, scale=("share", "plain"))
    return {
        "level": LEVEL,
        "calibrated_on": int(half.sum()),
        "covered": covered.to_json(),
        "size": size.to_json(),
        "reason": None,
    }


def camps_in_words(found: TasteOrWhyDocument) -> str:
    """Whether there are two camps, in a sentence."""
    if found["reason"]:
        return _explain_unknown(found["reason"])
    gain = found["gain"]
    if gain["value"] is None or gain["low"] is None or gain["high"] is None:
        return _explain_unknown(gain["reason"] or "")
    value, low, high = (f"{number:+.3f}" for number in (gain["value"], gain["low"], gain["high"]))
    bits = _("{value} bits a rating [{low}, {high}]").format(value=value, low=low, high=high)
    if not found["camps"]:
        return _("none. Two camps do not predict ratings that were held out better ({bits}).").format(bits=bits)
    smaller = ", ".join(person for person, camp in found["camps"].items() if camp)
    said = _("two. They predict ratings that were held out better ({bits}); the smaller one: {people}.")
    return said.format(bits=bits, people=smaller)


def _explain_unknown(reason: str) -> str:
    return _("not told, {reason}.").format(reason=reason)


def sets_in_words(found: SetsDocument) -> str:
    """How many neighbouring answers hold a person's answer, in a sentence."""
    if found["reason"]:
        return _explain_unknown(found["reason"])
    size, covered = found["size"], found["covered"]
    if size["value"] is None or covered["value"] is None:
        return _explain_unknown(covered["reason"] or "")
    return _(
        "{size} neighbouring values on average hold a person's answer on {covered} % of {n} items that were not used "
        "to make them (aim {aim} %)."
    ).format(
        size=f"{size['value']:.1f}",
        covered=f"{100 * covered['value']:.0f}",
        n=covered["n_items"],
        aim=f"{100 * found['level']:.0f}",
    )
