"""Tables of a report as rows of plain text, whatever they are then written as: LaTeX, PDF or CSV (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from django.utils.text import capfirst

from annotation.agreement.result_types import DifficultyDocument
from annotation.stats.result_types import EstimateDocument
from judging.assessment import calibration_figures, wording
from judging.assessment.agreement_figures import drop_codes, name_biases
from judging.assessment.charts import TIERS
from judging.assessment.report_types import ReportDocument, StudyCascadeDocument
from judging.assessment.result_types import CriterionAuditDocument, CriterionFiguresDocument, DifficultyAccuracyDocument
from judging.stats.calibration_types import BoardRowDocument

NONE = "–"
LONGEST = 24
"""Rows of a table that fits on a page; a longer one is written in parts."""


@dataclass(frozen=True)
class Table:
    """A table: what it shows, a name that no other table of the report has, its columns and its rows."""

    caption: str
    label: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    @classmethod
    def build(cls, caption: str, label: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
        """From rows that may come one by one."""
        return cls(caption, label, header, tuple(tuple(row) for row in rows))

    def split(self) -> Iterator[Table]:
        """The table in parts of at most `LONGEST` rows, the later ones marked as continued."""
        yield replace(self, rows=self.rows[:LONGEST])
        for number, start in enumerate(range(LONGEST, len(self.rows), LONGEST), start=2):
            part = self.rows[start : start + LONGEST]
            yield replace(self, caption=f"{self.caption} (continued)", label=f"{self.label}-{number}", rows=part)


def format_number(value: float | None, digits: int = 3) -> str:
    """A number with its minus as one; a dash where there is none."""
    return NONE if value is None else wording.write_number(value, digits)


def format_estimate(found: EstimateDocument | None, digits: int = 3) -> str:
    """Value and interval; a dash where it is undefined."""
    return NONE if found is None else wording.interval(found, digits)


def list_tables(document: ReportDocument) -> list[Table]:
    """All tables of a report that have a row, none longer than a page."""
    return [part for table in _list_tables(document) if table.rows for part in table.split()]


def _list_tables(document: ReportDocument) -> Iterator[Table]:
    """People, tiers, verdicts, the cascade, corrected figures, recalibration, probes, boards."""
    header = ["Criterion", "Agreement", "Coefficient", "Krippendorff's alpha", "n"]
    yield Table.build("Inter-annotator agreement", "people", header, (
        [
            str(found["name"]),
            format_estimate(found["coefficients"][found["headline"]["people"]]),
            str(found["headline"]["name"]),
            format_estimate(found["alpha"]),
            str(found["n_items"]),
        ]
        for found in document["people"].values()
    ))  # fmt: skip
    yield from _difficulty(document["difficulty"])
    yield _verdicts(document)
    if document["cascade"]:
        yield _cascade(document["cascade"])
    for name, found in document["judges"].items():
        for key, one in found["calibration"]["criteria"].items():
            yield from _of_criterion(name, key, one, found["audit"]["criteria"][key], document["annotators"])


PERSONAL: dict[str, tuple[Literal["order", "severity"], str]] = {
    "paired comparison": ("order", "Drawn to the first response")
}
"""By the difficulty model's method, what it says of a person in place of severity."""


def _difficulty(by_criterion: Mapping[str, DifficultyDocument]) -> Iterator[Table]:
    """Expected items of each tier, and people, of the criteria that the difficulty model was fitted to."""
    made = {key: found for key, found in by_criterion.items() if found["method"]}
    if made:
        rows = (
            [
                str(found["name"]),
                *(_expected(found, tier) for tier in TIERS),
                str(found["clear"]),
                str(found["n_items"]),
            ]
            for found in made.values()
        )
        yield Table.build("Expected per tier", "tiers", ["Criterion", *TIERS, "Clear", "n"], rows)
    for key, found in made.items():
        figure, title = PERSONAL.get(found["method"] or "", ("severity", "Severity"))
        rows = (
            [
                str(one["name"]),
                format_estimate(one[figure]),
                format_estimate(one["consistency"]),
                *(format_number(one[name], 2) for name in ("infit", "outfit")),
                str(one["n_ratings"]),
            ]
            for one in found["people"]
        )
        header = ["Annotator", title, "Consistency", "Infit", "Outfit", "Ratings"]
        yield Table.build(f"{found['name']}: annotators by the difficulty model", f"annotators-{key}", header, rows)


def _expected(found: DifficultyDocument, tier: str) -> str:
    low, high = found["count_intervals"][tier]
    return f"{format_number(found['expected_counts'][tier], 1)} [{format_number(low, 0)}, {format_number(high, 0)}]"


def _verdicts(document: ReportDocument) -> Table:
    header = ["Criterion", "Judge", "Verdict", "Judge–human agreement", "Human ceiling", "Biases"]
    rows = (
        [
            str(verdict["name"]),
            str(name),
            verdict["decision"],
            format_estimate(verdict["kappa"]),
            format_estimate(verdict["human_ceiling"]),
            name_biases({one["name"]: one["found"] for one in found["audit"]["criteria"][key]["probes"]}),
        ]
        for name, found in document["judges"].items()
        for key, verdict in found["verdicts"].items()
    )
    return Table.build("Judges", "judges", header, rows)


def _cascade(document: StudyCascadeDocument) -> Table:
    """Judges one after the other, and each alone; the rest is escalated to people."""
    rows = (
        [
            str(found["name"]),
            str(", then ".join(one["judges"])),
            format_estimate(one["coverage"]),
            format_estimate(one["agreement"]),
            format_estimate(one["human_share"]),
            format_number(one["cost_per_item_usd"], 4),
        ]
        for found in document["criteria"].values()
        for one in (found, *found["alone"])
    )
    promise = f"agreement {document['target_agreement']:g}, failing with probability {document['delta']:g}"
    header = [
        "Criterion",
        "Judges",
        "Accepted without review",
        "Agreement",
        "Escalated to people",
        "Cost per item (USD)",
    ]
    return Table.build(f"Cascade: {promise}", "cascade", header, rows)


def _of_criterion(
    judge: str, key: str, found: CriterionFiguresDocument, audit: CriterionAuditDocument, names: Mapping[str, str]
) -> Iterator[Table]:
    about, label = f"{found['name']}, {judge}", f"{key}-{judge}"
    corrected = (
        [
            str(" ".join(filter(None, (row["of"], row["label"])))),
            format_estimate(row["estimate"]),
            str(row["estimate"]["n_items"]),
            str(row["note"]),
        ]
        for row in calibration_figures.correction(found)
    )
    header = ["By", "Estimate", "Items", "Note"]
    yield Table.build(f"{about}: {found['estimand']}", f"correction-{label}", header, corrected)
    if found["scores"]:
        sides = (found["scores"]["before"]["intervals"], found["scores"]["after"]["intervals"])
        rows = ([label, *(format_estimate(side[name]) for side in sides)] for name, label in wording.SCORE_NAMES)
        yield Table.build(f"{about}: scores", f"scores-{label}", ["Error", "Original", "Recalibrated"], rows)
    yield from _by_difficulty(about, label, found["tiers"]["by_difficulty"])
    probes = (
        [
            capfirst(drop_codes(one["name"])),
            format_estimate(one["effect"]),
            str(one["test"]),
            format_number(one["adjusted_p_value"]),
            {True: "found", False: "no", None: "not run"}[one["found"]],
            format_number(one["minimum_detectable_effect"]),
        ]
        for one in audit["probes"]
    )
    header = ["Probe", "Effect", "Test", "p, adjusted", "Found", "Minimum detectable effect (80 % power)"]
    tiers = f" (tiers: {wording.item_tiers(audit['tiers'])})" if audit["tiers"] else ""
    yield Table.build(f"{about}: probes{tiers}", f"probes-{label}", header, probes)
    yield from _data(about, label, audit, names)
    if boards := calibration_figures.leaderboards(found):
        header = ["Assistant", "People", "Judge", "Corrected"]
        rows = (
            [str(row["assistant"]), *(_strength(row[board]) for board in ("people", "judge", "corrected"))]
            for row in boards
        )
        yield Table.build(f"{about}: strengths of assistants", f"board-{label}", header, rows)


def _by_difficulty(about: str, label: str, found: DifficultyAccuracyDocument) -> Iterator[Table]:
    """Agreement with people's label by tier; each item or part counts in each tier by its probability."""
    if found["by_tier"]:
        rows = (
            [tier, format_number(one["items"], 1), format_estimate(one["accuracy"])]
            for tier, one in found["by_tier"].items()
        )
        header = ["Tier", "Expected number", "Agreement with people's label"]
        yield Table.build(f"{about}: agreement by difficulty", f"difficulty-{label}", header, rows)


def _data(about: str, label: str, audit: CriterionAuditDocument, names: Mapping[str, str]) -> Iterator[Table]:
    """The audits of the data: trivial baselines, annotators, copies, polarity."""
    rules = (
        [str(one["name"]), format_estimate(one["accuracy"]), format_estimate(one["judge"])]
        for one in audit["baselines"]
    )
    yield Table.build(f"{about}: trivial baselines", f"rules-{label}", ["Rule", "Right", "The judge there"], rules)
    noise = (
        [names[one["annotator"]], format_number(one["accuracy"]), str(one["n"])]
        for one in audit["labels"]["annotators"]
    )
    header = ["Annotator", "Accuracy", "Ratings"]
    yield Table.build(f"{about}: annotators after Dawid and Skene", f"noise-{label}", header, noise)
    copies, backwards = audit["duplicates"], ", ".join(names[one] for one in audit["labels"]["backwards"])
    facts = [
        ["Items that are copies of others", str(copies["n_items"])],
        ["Groups of copies with other labels", str(copies["n_contradictory"])],
        ["Annotators who read the scale backwards", backwards or "none"],
        ["Judge–human correlation", format_estimate(audit["polarity"])],
    ]
    yield Table.build(f"{about}: the data", f"data-{label}", ["Audit", "Found"], facts)


def _strength(place: BoardRowDocument | None) -> str:
    return NONE if place is None else format_estimate(place["strength"])
