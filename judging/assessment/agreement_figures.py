"""Every figure of an agreement document as one flat row: what the page's tables and the CSV download show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from annotation.stats.chance_corrected import NOT_COUNTED
from annotation.stats.result_types import EstimateDocument, HeadlineDocument, PairFigure
from annotation.stats.table import NO_SCORES
from judging.assessment.agreement_types import CriterionAgreementDocument, JudgeDocument, JudgeOfGroupDocument
from judging.assessment.score_types import ScoreCountsDocument, ScoresDocument
from judging.stats.result_types import AltTestDocument, JudgeFigure

COEFFICIENTS = {
    "percent_agreement": "Percent agreement",
    "fleiss_kappa": "Fleiss’ kappa",
    "fleiss_kappa_pooled": "Fleiss’ kappa, pairs pooled",
    "krippendorff_alpha": "Krippendorff’s alpha",
    "gwet_ac": "Gwet’s AC",
    "brennan_prediger": "Brennan–Prediger",
    "mean_pairwise_cohen_kappa": "Mean Cohen’s kappa of pairs",
    "mean_pairwise_weighted_cohen_kappa": "Mean weighted kappa of pairs",
    "mean_pairwise_linear_cohen_kappa": "Mean linearly weighted kappa of pairs",
    "mean_pairwise_scott_pi": "Mean Scott’s pi of pairs",
    "kendall_w": "Kendall’s W",
    "pairwise_agreement": "Pairs of responses ordered alike",
    "mean_masi": "Mean MASI",
    "mean_jaccard": "Mean Jaccard",
    "krippendorff_alpha_jaccard": "Krippendorff’s alpha, Jaccard distance",
    "overlap_f1": "F1 of marked characters",
    "labelled_overlap_f1": "F1 of marked characters, same category",
    "exact_f1": "F1 of whole spans",
    "unitizing_alpha": "Krippendorff’s alpha for unitizing",
    "icc_2_1": "ICC(2,1)",
    "icc_2_k": "ICC(2,k)",
    "icc_1_1": "ICC(1,1)",
    "icc_1_k": "ICC(1,k)",
    "icc_3_1": "ICC(3,1)",
    "icc_3_k": "ICC(3,k)",
}

JUDGED: dict[JudgeFigure, str] = {
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
    "mean_linear_cohen_kappa": "Mean linearly weighted kappa with each person",
    "majority_weighted_cohen_kappa": "Weighted kappa with the majority",
    "macro_precision": "Macro precision against the majority",
    "macro_recall": "Macro recall against the majority",
    "macro_f1": "Macro F1 against the majority",
    "kendall_tau_b": "Kendall’s tau-b with the mean score",
    "pearson": "Pearson correlation with the mean score",
    "bias": "Mean difference from the mean score",
    "mean_overlap_f1": "Mean F1 of marked characters with each person",
    "mean_labelled_overlap_f1": "Mean F1 of marked characters, same category, with each person",
    "mean_exact_f1": "Mean F1 of whole spans with each person",
    "human_ceiling_overlap": "Human ceiling: mean F1 of marked characters",
    "human_ceiling_labelled_overlap": "Human ceiling, same category",
    "human_ceiling_exact": "Human ceiling, whole spans",
    "below_ceiling_overlap": "Below the ceiling",
    "below_ceiling_labelled_overlap": "Below the ceiling, same category",
    "below_ceiling_exact": "Below the ceiling, whole spans",
}
"""Of a judge; every figure of `judging.stats.result_types.JudgeFigures`."""

LABELS: dict[str, str] = dict(JUDGED.items())
"""`JUDGED` for names that are only known as text, such as the keys of a dict."""

PAIRED: dict[PairFigure, str] = {
    "cohen_kappa": "Cohen’s kappa",
    "weighted_cohen_kappa": "Weighted kappa",
    "percent_agreement": "Percent agreement",
    "linear_cohen_kappa": "Linearly weighted kappa",
    "scott_pi": "Scott’s pi",
    "overlap_f1": "F1 of marked characters",
    "labelled_overlap_f1": "F1 of marked characters, same category",
    "exact_f1": "F1 of whole spans",
}
"""Of two raters; those of marked spans have the last three, all others the rest."""

OF_CATEGORY: dict[Literal["share", "fleiss_kappa", "unitizing_alpha"], str] = {
    "share": "Share",
    "fleiss_kappa": COEFFICIENTS["fleiss_kappa"],
    "unitizing_alpha": COEFFICIENTS["unitizing_alpha"],
}

BY_FORMULA: dict[PairFigure, str] = {"cohen_kappa_analytic": "Cohen’s kappa, interval by formula"}

Each = Literal["per_annotator", "per_annotator_weighted", "per_annotator_ceiling"]
EACH: dict[Each, tuple[str, str]] = {
    "per_annotator": ("judge and person", "Cohen’s kappa"),
    "per_annotator_weighted": ("judge and person", "Weighted kappa"),
    "per_annotator_ceiling": ("person and others, as the judge", "Cohen’s kappa"),
}
"""What is told of a judge person by person: the group of its rows, and what it is called."""


def find_each(headline: HeadlineDocument) -> Each:
    """Under which name a judge's part tells the headline coefficient with each person."""
    return "per_annotator_weighted" if headline["kappa"] == "weighted_cohen_kappa" else "per_annotator"


PROBES = {"central_tendency": "central tendency", "self_preference": "self-preference"}

CODES: dict[str, str] = dict([*PAIRED.items(), *JUDGED.items(), *COEFFICIENTS.items(), *PROBES.items()])
CODE = re.compile(rf"\b(?:{'|'.join(sorted((one for one in CODES if '_' in one), key=len, reverse=True))})\b")
FAMILY = re.compile(r"\b(injection|invariance|length|subgroups):(annotator [^,;.:]+|[a-z_]+)")


def drop_codes(text: str, translate: Callable[[str], str] = str) -> str:
    """A sentence with what figures and probes are called in words; their codes stay in documents and files.

    A page translates these words.
    """
    named = CODE.sub(lambda found: translate(CODES[found[0]]), text)
    return FAMILY.sub(lambda found: f"{translate(found[1])} ({found[2].replace('_', ' ')})", named)


def name_biases(probes: Mapping[str, bool | None]) -> str:
    """Names of the probes that found something, by name (None: not run), in one text; "none", or "not run" of all."""
    found = [drop_codes(name) for name, is_found in probes.items() if is_found]
    return ", ".join(found) or ("not run" if all(one is None for one in probes.values()) else "none")


@dataclass(frozen=True)
class Figure:
    """One estimate and what it is of.

    Attributes
    ----------
    group
        What it is of: people, pair, judge, judge and person, difference, items of a group, …
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
    estimate: EstimateDocument


def list_coefficients(document: CriterionAgreementDocument) -> list[Figure]:
    """The coefficients over all people."""
    found = document["coefficients"]
    return [Figure("people", "", "", key, name(key, document), found[key]) for key in found]


def name(key: str, document: CriterionAgreementDocument) -> str:
    """What a coefficient is called; Gwet's AC says which one it is."""
    if key == "gwet_ac":
        return "Gwet’s AC1" if document["weights"] == "identity" else f"Gwet’s AC2, {document['weights']} weights"
    return COEFFICIENTS.get(key, key)


def list_formulas(document: CriterionAgreementDocument) -> list[Figure]:
    """The coefficients again with the intervals of formulas."""
    return [
        Figure("people, by formula", "", "", key, name(key, document), e) for key, e in document["analytic"].items()
    ]


def list_categories(document: CriterionAgreementDocument) -> list[Figure]:
    """Each category: its share, and its kappa with all others merged."""
    return [
        Figure("category", str(one["category"]), "", key, label, one[key])
        for one in document["per_category"]
        for key, label in OF_CATEGORY.items()
        if key in one
    ]


def list_pairs(document: CriterionAgreementDocument) -> list[Figure]:
    """Every two people."""
    return [
        Figure("pair", pair["a"], pair["b"], key, label, pair[key])
        for pair in document["pairs"]
        for key, label in (PAIRED | BY_FORMULA).items()
        if key in pair
    ]


def list_raters(document: CriterionAgreementDocument) -> list[Figure]:
    """Each person with the others."""
    return [
        Figure("person and others", one["rater"], "", key, label, one[key])
        for one in document["raters"]
        for key, label in PAIRED.items()
        if key in one
    ]


def list_judge(judge: str, held: JudgeDocument) -> list[Figure]:
    """One judge against people: the figures over all of them, those with each, and what people reach themselves."""
    over_all = [Figure("judge", judge, "", key, label, held[key]) for key, label in JUDGED.items() if key in held]
    ceiling = [
        Figure("people, as the judge", judge, "", key, LABELS[key], e) for key, e in held.get("ceiling", {}).items()
    ]
    return [*over_all, *_with_each(judge, held), *ceiling, *_of_test(judge, held.get("alt_test"))]


def _with_each(judge: str, held: JudgeDocument) -> Iterator[Figure]:
    for key, (group, label) in EACH.items():
        for person, estimate in held.get(key, {}).items():
            named = label if "mean_overlap_f1" not in held else PAIRED["overlap_f1"]
            yield Figure(group, judge, person, key, named, estimate)


def _of_test(judge: str, found: AltTestDocument | None) -> Iterator[Figure]:
    """The alternative-annotator test; its winning rate has no interval."""
    if found is None:
        return
    yield Figure("alternative-annotator test", judge, "", "advantage", "Advantage probability", found["advantage"])
    bare: EstimateDocument = {
        "value": found["winning_rate"],
        "low": None,
        "high": None,
        "reason": found["reason"],
    }
    yield Figure("alternative-annotator test", judge, "", "winning_rate", "Winning rate", bare)


INAPPLICABLE = ("the scale is nominal", *NO_SCORES.values(), NOT_COUNTED)
"""How the reasons begin why a figure cannot be there whatever the data."""


def select_applicable(figures: Iterable[Figure]) -> list[Figure]:
    """The figures without those that no data could define: what needs an order, or a scale, where there is none."""
    return [figure for figure in figures if not (figure.estimate["reason"] or "").startswith(INAPPLICABLE)]


def build_figures(document: CriterionAgreementDocument) -> list[Figure]:
    """All figures of a criterion."""
    judged = [figure for judge, held in document["judges"].items() for figure in list_judge(judge, held)]
    return [
        *list_coefficients(document),
        *list_formulas(document),
        *list_categories(document),
        *list_pairs(document),
        *list_raters(document),
        *judged,
        *list_differences(document),
        *list_groups(document),
        *list_annotators(document),
    ]


def list_differences(document: CriterionAgreementDocument) -> list[Figure]:
    """Every two judges on the items of both: each of them, and the first minus the second."""
    return [
        Figure(group, one["a"], one["b"], key, LABELS[key], found[side])
        for one in document.get("differences", [])
        for key, found in one["figures"].items()
        for side, group in SIDES
    ]


SIDES: tuple[tuple[Literal["a", "b", "difference"], str], ...] = (
    ("a", "first judge, items of both"),
    ("b", "second judge, items of both"),
    ("difference", "difference"),
)


def list_groups(document: CriterionAgreementDocument) -> list[Figure]:
    """Each group of items: people, and each judge; the group stands where a rater would."""
    return [
        figure
        for one in document.get("groups", [])
        for figure in _of_group(
            "items of a group",
            one["group"],
            [(key, one[key]) for key in ("fleiss_kappa", "percent_agreement")],
            one["judges"],
        )
    ]


def list_annotators(document: CriterionAgreementDocument) -> list[Figure]:
    """Each group of annotators: its people among themselves, and each judge with them."""
    found = document.get("annotator_groups")
    return [
        figure
        for one in (found["groups"] if found else ())
        for figure in _of_group(
            "annotators of a group",
            one["group"],
            [(key, one[key]) for key in ("percent_agreement", "fleiss_kappa", "krippendorff_alpha")],
            one["judges"],
        )
    ]


def _of_group(
    kind: str, group: str, people: Iterable[tuple[str, EstimateDocument]], judges: Mapping[str, JudgeOfGroupDocument]
) -> Iterator[Figure]:
    for key, estimate in people:
        yield Figure(kind, group, "", key, COEFFICIENTS[key], estimate)
    for judge, held in judges.items():
        for key, label in JUDGED.items():
            if key in held:
                yield Figure(kind, group, judge, key, label, held[key])


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


def scores_rows(document: ScoresDocument) -> Iterable[tuple[object, ...]]:
    """All figures of a run's scores, the header first: over all, by value, by group, by turn or response."""
    yield SCORES_HEADER
    for key, one in document["criteria"].items():
        parts: list[tuple[str, str | int, ScoreCountsDocument, EstimateDocument | None]]
        parts = [("all", "", one, one["overall"]), ("weighted mean", "", one, one["weighted"])]
        parts += [("share of value", value["value"], one, value["share"]) for value in one["distribution"]]
        parts += [(document["by"], group["group"], group, group["estimate"]) for group in one["groups"]]
        parts += [(document["unit"], turn["turn"], turn, turn["estimate"]) for turn in one["turns"]]
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


def csv_rows(documents: Mapping[str, CriterionAgreementDocument]) -> Iterable[tuple[object, ...]]:
    """All figures of all criteria, the header first."""
    yield CSV_HEADER
    for criterion, document in documents.items():
        for figure in build_figures(document):
            e = figure.estimate
            yield (criterion, figure.group, figure.a, figure.b, figure.key, *(e.get(key) for key in CSV_HEADER[5:]))
