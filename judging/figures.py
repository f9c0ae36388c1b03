"""Every figure of an agreement document as one flat row: what the page's tables and the CSV download show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]

COEFFICIENTS = {
    "percent_agreement": "Percent agreement",
    "fleiss_kappa": "Fleiss’ kappa",
    "fleiss_kappa_pooled": "Fleiss’ kappa, pairs pooled",
    "krippendorff_alpha": "Krippendorff’s alpha",
    "gwet_ac": "Gwet’s AC",
    "brennan_prediger": "Brennan–Prediger",
    "mean_pairwise_cohen_kappa": "Mean Cohen’s kappa of pairs",
    "mean_pairwise_weighted_cohen_kappa": "Mean weighted kappa of pairs",
    "icc_2_1": "ICC(2,1)",
    "icc_2_k": "ICC(2,k)",
}

JUDGED = {
    "mean_cohen_kappa": "Mean Cohen’s kappa with each person",
    "mean_weighted_cohen_kappa": "Mean weighted kappa with each person",
    "human_ceiling": "Human ceiling: mean kappa of people",
    "human_ceiling_weighted": "Human ceiling, weighted",
    "below_ceiling": "Below the ceiling",
    "below_ceiling_weighted": "Below the ceiling, weighted",
    "percent_agreement": "Percent agreement with each person",
    "accuracy": "Same as the majority",
    "majority_cohen_kappa": "Cohen’s kappa with the majority",
    "spearman": "Spearman correlation with the mean score",
    "mae": "Mean absolute error from the mean score",
    "within_one": "Within one step of the mean score",
}

PAIRED = {
    "cohen_kappa": "Cohen’s kappa",
    "weighted_cohen_kappa": "Weighted kappa",
    "percent_agreement": "Percent agreement",
}


@dataclass(frozen=True)
class Figure:
    """One estimate and what it is of.

    Attributes
    ----------
    group
        people, pair, judge, judge and person, difference, or items of a group.
    a, b
        The raters that it is about; empty where it is about all people.
    key, name
        What it is, for machines and for readers.
    estimate
        Value, interval, reason, counts, confidence, method and seed.
    """

    group: str
    a: str
    b: str
    key: str
    name: str
    estimate: Mapping[str, Any]


def among_people(document: Document) -> list[Figure]:
    """The coefficients over all people."""
    found = document["coefficients"]
    return [Figure("people", "", "", key, name(key, document), found[key]) for key in found]


def name(key: str, document: Document) -> str:
    """What a coefficient is called; Gwet's AC says which one it is."""
    if key == "gwet_ac":
        return "Gwet’s AC1" if document["weights"] == "identity" else f"Gwet’s AC2, {document['weights']} weights"
    return COEFFICIENTS.get(key, key)


def of_pairs(document: Document) -> list[Figure]:
    """Every two people."""
    return [
        Figure("pair", pair["a"], pair["b"], key, label, pair[key])
        for pair in document["pairs"]
        for key, label in PAIRED.items()
    ]


def of_judge(judge: str, document: Document) -> list[Figure]:
    """One judge against people: the figures over all of them, then those with each."""
    held = document["judges"][judge]
    over_all = [Figure("judge", judge, "", key, label, held[key]) for key, label in JUDGED.items()]
    return [*over_all, *_with_each(judge, held)]


def _with_each(judge: str, held: Document) -> Iterator[Figure]:
    for key, label in (("per_annotator", "Cohen’s kappa"), ("per_annotator_weighted", "Weighted kappa")):
        for person, estimate in held[key].items():
            yield Figure("judge and person", judge, person, key, label, estimate)


def that_apply(figures: Iterable[Figure]) -> list[Figure]:
    """The figures without those that no data could define: what needs an order, of a scale that has none."""
    return [figure for figure in figures if not (figure.estimate["reason"] or "").startswith("the scale is nominal")]


def of(document: Document) -> list[Figure]:
    """All figures of a criterion."""
    judged = [figure for judge in document["judges"] for figure in of_judge(judge, document)]
    return [
        *among_people(document),
        *of_pairs(document),
        *judged,
        *of_differences(document),
        *of_groups(document),
        *of_annotators(document),
    ]


def of_differences(document: Document) -> list[Figure]:
    """Every two judges: the first minus the second, on the items of both."""
    return [
        Figure("difference", one["a"], one["b"], key, JUDGED[key], one["figures"][key]["difference"])
        for one in document.get("differences", [])
        for key in ("mean_cohen_kappa", "accuracy", "mae")
    ]


def of_groups(document: Document) -> list[Figure]:
    """Each group of items: people, and each judge; the group stands where a rater would."""
    found = []
    for one in document.get("groups", []):
        found += [
            Figure("items of a group", one["group"], "", key, COEFFICIENTS[key], one[key])
            for key in ("fleiss_kappa", "percent_agreement")
        ]
        found += [
            Figure("items of a group", one["group"], judge, key, JUDGED[key], held[key])
            for judge, held in one["judges"].items()
            for key in ("mean_cohen_kappa", "human_ceiling", "below_ceiling", "accuracy", "mae")
        ]
    return found


def of_annotators(document: Document) -> list[Figure]:
    """Each group of annotators: its people among themselves, and each judge with them."""
    found = []
    for one in document.get("annotator_groups", {}).get("groups", []):
        found += [
            Figure("annotators of a group", one["group"], "", key, COEFFICIENTS[key], one[key])
            for key in ("percent_agreement", "fleiss_kappa", "krippendorff_alpha")
        ]
        found += [
            Figure("annotators of a group", one["group"], judge, key, JUDGED[key], held[key])
            for judge, held in one["judges"].items()
            for key in ("mean_cohen_kappa", "human_ceiling", "below_ceiling", "accuracy", "mae")
        ]
    return found


SCORES_HEADER = (
    "criterion",
    "measure",
    "part",
    "name",
    "value",
    "low",
    "high",
    "reason",
    "n_items",
    "n_judgments",
    "scored",
    "unscored",
    "confidence",
    "method",
    "seed",
)


def scores_rows(document: Document) -> Iterable[tuple[Any, ...]]:
    """All figures of a run's scores, the header first: over all, each value's share, each group, each turn."""
    yield SCORES_HEADER
    for key, one in document["criteria"].items():
        parts = [("all", "", one, one["overall"]), ("weighted mean", "", one, one["weighted"])]
        parts += [("share of value", value["value"], one, value["share"]) for value in one["distribution"]]
        parts += [(document["by"], group["group"], group, group["estimate"]) for group in one["groups"]]
        parts += [("turn", turn["turn"], turn, turn["estimate"]) for turn in one["turns"]]
        for part, name, counted, estimate in parts:
            if estimate is None:
                continue
            figures = [estimate[field] for field in ("value", "low", "high", "reason")]
            counts = [counted[field] for field in ("n_items", "n_judgments", "scored")]
            made = [estimate[field] for field in ("confidence", "method", "seed")]
            yield (key, one["measure"], part, name, *figures, *counts, sum(counted["unscored"].values()), *made)


CSV_HEADER = (
    "criterion",
    "group",
    "a",
    "b",
    "figure",
    "value",
    "low",
    "high",
    "reason",
    "n_items",
    "n_raters",
    "n_ratings",
    "confidence",
    "method",
    "seed",
)


def csv_rows(documents: Mapping[str, Document]) -> Iterable[tuple[Any, ...]]:
    """All figures of all criteria, the header first."""
    yield CSV_HEADER
    for criterion, document in documents.items():
        for figure in of(document):
            e = figure.estimate
            yield (criterion, figure.group, figure.a, figure.b, figure.key, *(e[key] for key in CSV_HEADER[5:]))
