"""What calibration and audits found, as rows: for tables on pages, in reports and in files (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judging.assessment.calibration_charts import sort_standings

Document = Mapping[str, Any]

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
WAYS = {
    "human_only": ("people", "People’s labels alone", "people"),
    "judge_only": ("judge", "The judge alone, uncorrected", "judge"),
    "ppi": ("both", "Corrected by PPI++", ""),
}


def correction(document: Document) -> list[dict[str, Any]]:
    """Rows of the corrected figures: by people alone, by the judge alone, by PPI++, and the cross-check."""
    parts = document["by_category"] or {"": document}
    rows = [
        {"of": name, "label": label, "mark": mark, "estimate": part[key], "note": _note(part, key)}
        for name, part in parts.items()
        for key, (_, label, mark) in WAYS.items()
    ]
    if found := document["rogan_gladen"]:
        note = f"sensitivity {_short(found['sensitivity'])}, specificity {_short(found['specificity'])}"
        rows.append({"of": "", "label": "Rogan–Gladen, as a cross-check", "mark": "", "estimate": found, "note": note})
    return rows


def list_corrected(document: Document) -> list[tuple[str, Document]]:
    """The figure corrected by PPI++ alone; of a scale without a mean that of each category, by its name."""
    parts = document["by_category"] or {"": document}
    return [(name, part["ppi"]) for name, part in parts.items()]


def _note(part: Document, key: str) -> str:
    if key == "judge_only":
        return "knows nothing of the judge’s errors"
    worth = part["ppi"]["effective_n"]
    if key == "human_only" or worth is None:
        return ""
    return f"λ {part['ppi']['lambda']:.2f}; worth {worth:,.0f} labels"


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def groups(document: Document) -> list[dict[str, Any]]:
    """Assistants, conditions and domains with their means and ranks on each board."""
    return [
        {"name": name, "rows": _group_rows(found["corrected"], found["boards"])}
        for name, found in document["groups"].items()
    ]


def _group_rows(corrected: Document, boards: Mapping[str, list[Document]]) -> list[dict[str, Any]]:
    ranks = {board: {place["group"]: place["rank"] for place in places} for board, places in boards.items()}
    order = [place["group"] for place in boards["corrected"] or boards["people"] or boards["judge"]]
    return [
        {
            "group": group,
            **{key: corrected[group][key] for key in WAYS},
            "ranks": {board: found.get(group) for board, found in ranks.items()},
        }
        for group in [*order, *(group for group in corrected if group not in order)]
    ]


def leaderboards(document: Document) -> list[dict[str, Any]]:
    """Assistants by the pairs they met in, as people rank them: win rate, strength and rank on each board."""
    found = document["leaderboard"]
    if not found:
        return []
    boards = {name: {place["assistant"]: place for place in found[name]} for name in ("people", "judge", "corrected")}
    order = [place["assistant"] for place in sort_standings(found["people"]) or sort_standings(found["judge"])]
    return [
        {"assistant": assistant, **{name: board.get(assistant) for name, board in boards.items()}}
        for assistant in order
    ]


def calibration_rows(result: Document) -> Iterator[tuple[Any, ...]]:
    """Every figure of a calibration as one row, the header first."""
    yield CALIBRATION_HEADER
    for key, document in result["criteria"].items():
        for part, of, figure, estimate in _figures(document):
            yield (key, part, of, figure, *(estimate.get(name) for name in CSV_FIGURES))


def _figures(document: Document) -> Iterable[tuple[str, str, str, Document]]:
    for name, estimate in document["agreement"].items():
        if isinstance(estimate, Mapping) and "value" in estimate:
            yield "agreement", "", name, estimate
    for name, part in (document["by_category"] or {"": document}).items():
        yield from (("correction", name, key, part[key]) for key in WAYS)
    if document["rogan_gladen"]:
        yield "correction", "", "rogan_gladen", document["rogan_gladen"]
    yield from _of_scores(document)
    for one in document["selective"]:
        of = f"{one['target_agreement']:g}"
        yield from (("selective", of, name, part) for name, part in one["intervals"].items())
    yield "correction", "", "gained", document["gained"]
    yield "risk_coverage", "", "aurc", document["risk_coverage"]["aurc"]
    for grouping, found in document["groups"].items():
        for group, part in found["corrected"].items():
            yield from ((grouping, group, key, part[key]) for key in WAYS)
    for board in ("people", "judge", "corrected") if document["leaderboard"] else ():
        for place in document["leaderboard"][board]:
            yield from ((board, place["assistant"], key, place[key]) for key in ("win_rate", "strength", "rank"))


def _of_scores(document: Document) -> Iterable[tuple[str, str, str, Document]]:
    for side in ("before", "after") if document["scores"] else ():
        for name, estimate in document["scores"][side]["intervals"].items():
            yield "scores", side, name, estimate


def audit_rows(result: Document) -> Iterator[tuple[Any, ...]]:
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
                *(one[name] for name in AUDIT_HEADER[8:]),
            )
