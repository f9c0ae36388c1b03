"""What calibration and audits found, as rows: for tables on pages, in reports and in files (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypedDict

from annotation.stats.result_types import EstimateDocument
from judging.assessment.calibration_charts import Way, list_parts, sort_standings
from judging.assessment.result_types import (
    AuditDocument,
    CalibrationDocument,
    CriterionFiguresDocument,
    GroupBoardsDocument,
)
from judging.stats.calibration_types import BoardRowDocument, CorrectedDocument, CorrectedEstimateDocument

CSV_FIGURES = ("value", "low", "high", "reason", "n_items", "n_raters", "n_ratings", "confidence", "method", "seed")
CALIBRATION_HEADER = ("criterion", "part", "of", "figure", *CSV_FIGURES)
AUDIT_HEADER = (
    "criterion",
    "probe",
    "effect",
    "low",
    "high",
    "unit",
    "reason",
    "n_items",
    "test",
    "p_value",
    "adjusted_p_value",
    "found",
    "minimum_detectable_effect",
)
WAYS: dict[Way, tuple[str, str, str]] = {
    "human_only": ("people", "People’s labels alone", "people"),
    "judge_only": ("judge", "The judge alone, uncorrected", "judge"),
    "ppi": ("both", "Corrected by PPI++", ""),
}


class CorrectionRow(TypedDict):
    """A way to a corrected figure: what it is of, what it is called and marked by, the figure, and a note."""

    of: str
    label: str
    mark: str
    estimate: EstimateDocument
    note: str


def correction(document: CriterionFiguresDocument) -> list[CorrectionRow]:
    """Rows of the corrected figures: by people alone, by the judge alone, by PPI++, and the cross-check."""
    parts = list_parts(document)
    rows: list[CorrectionRow] = [
        {"of": name, "label": label, "mark": mark, "estimate": part[key], "note": _note(part, key)}
        for name, part in parts.items()
        for key, (_, label, mark) in WAYS.items()
    ]
    if found := document["rogan_gladen"]:
        note = f"sensitivity {_short(found['sensitivity'])}, specificity {_short(found['specificity'])}"
        rows.append({"of": "", "label": "Rogan–Gladen, as a cross-check", "mark": "", "estimate": found, "note": note})
    return rows


def list_corrected(document: CriterionFiguresDocument) -> list[tuple[str, CorrectedEstimateDocument]]:
    """The figure corrected by PPI++ alone; of a scale without a mean that of each category, by its name."""
    return [(name, part["ppi"]) for name, part in list_parts(document).items()]


def _note(part: CorrectedDocument, key: Way) -> str:
    if key == "judge_only":
        return "knows nothing of the judge’s errors"
    worth = part["ppi"]["effective_n"]
    if key == "human_only" or worth is None:
        return ""
    return f"λ {part['ppi']['lambda']:.2f}; worth {worth:,.0f} labels"


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def groups(document: CriterionFiguresDocument) -> list[dict[str, object]]:
    """Assistants, conditions and domains with their means and ranks on each board."""
    return [{"name": name, "rows": _group_rows(found)} for name, found in document["groups"].items()]


def _group_rows(found: GroupBoardsDocument) -> list[dict[str, object]]:
    corrected, boards = found["corrected"], found["boards"]
    ranks = {board: {place["group"]: place["rank"] for place in places} for board, places in boards.items()}
    order = [place["group"] for place in boards["corrected"] or boards["people"] or boards["judge"]]
    return [
        {
            "group": group,
            **corrected[group],
            "ranks": {board: places.get(group) for board, places in ranks.items()},
        }
        for group in [*order, *(group for group in corrected if group not in order)]
    ]


class BoardsRow(TypedDict):
    """An assistant and its standing on each board; None where it is not on it."""

    assistant: str
    people: BoardRowDocument | None
    judge: BoardRowDocument | None
    corrected: BoardRowDocument | None


def leaderboards(document: CriterionFiguresDocument) -> list[BoardsRow]:
    """Assistants by the pairs they met in, as people rank them: win rate, strength and rank on each board."""
    found = document["leaderboard"]
    if not found:
        return []
    people, judge, corrected = (
        {place["assistant"]: place for place in found[name]} for name in ("people", "judge", "corrected")
    )
    order = [place["assistant"] for place in sort_standings(found["people"]) or sort_standings(found["judge"])]
    return [
        {
            "assistant": assistant,
            "people": people.get(assistant),
            "judge": judge.get(assistant),
            "corrected": corrected.get(assistant),
        }
        for assistant in order
    ]


def calibration_rows(result: CalibrationDocument) -> Iterator[tuple[object, ...]]:
    """Every figure of a calibration as one row, the header first."""
    yield CALIBRATION_HEADER
    for key, document in result["criteria"].items():
        for part, of, figure, estimate in _figures(document):
            yield (key, part, of, figure, *(estimate.get(name) for name in CSV_FIGURES))


def _figures(document: CriterionFiguresDocument) -> Iterable[tuple[str, str, str, Mapping[str, object]]]:
    for name, estimate in document["agreement"].items():
        if isinstance(estimate, Mapping) and "value" in estimate:
            yield "agreement", "", name, estimate
    for name, part in list_parts(document).items():
        yield from (("correction", name, key, part[key]) for key in WAYS)
    if document["rogan_gladen"]:
        yield "correction", "", "rogan_gladen", document["rogan_gladen"]
    yield from _of_scores(document)
    for one in document["selective"]:
        of = f"{one['target_agreement']:g}"
        yield from (
            ("selective", of, name, one["intervals"][name])
            for name in ("coverage", "agreement", "agreement_with_person")
        )
    yield "correction", "", "gained", document["gained"]
    yield "risk_coverage", "", "aurc", document["risk_coverage"]["aurc"]
    for grouping, found in document["groups"].items():
        for group, part in found["corrected"].items():
            yield from ((grouping, group, key, part[key]) for key in WAYS)
    boards = document["leaderboard"]
    for board in ("people", "judge", "corrected"):
        for place in boards[board] if boards else ():
            yield from ((board, place["assistant"], key, place[key]) for key in ("win_rate", "strength", "rank"))


def _of_scores(document: CriterionFiguresDocument) -> Iterable[tuple[str, str, str, EstimateDocument]]:
    scores = document["scores"]
    for side in ("before", "after"):
        for name in ("ece", "brier", "mae", "sharpness"):
            if scores:
                yield "scores", side, name, scores[side]["intervals"][name]


def audit_rows(result: AuditDocument) -> Iterator[tuple[object, ...]]:
    """Every probe as one row, the header first."""
    yield AUDIT_HEADER
    for key, document in result["criteria"].items():
        for one in document["probes"]:
            effect = one["effect"]
            yield (
                key,
                one["name"],
                effect["value"],
                effect["low"],
                effect["high"],
                one["unit"],
                effect["reason"],
                effect["n_items"],
                one["test"],
                one["p_value"],
                one["adjusted_p_value"],
                one["found"],
                one["minimum_detectable_effect"],
            )
