"""The results of a study as one matrix: a criterion a row, a judge a column, each figure from one stored result.

What is said of a judge is read from its calibration (`CriterionVerdict`), what people reach from the study's agreement.
Both are computed on the same items with the same draws; pages, report, API and files show these rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.stats.result_types import EstimateDocument
from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Criterion, Study
from judging.assessment import charts
from judging.assessment.agreement_types import CriterionAgreementDocument
from judging.assessment.services.agreement import load_document
from judging.assessment.services.assessment import StoredAssessment
from judging.assessment.services.study_raters import StudyRaters
from judging.assessment.wording import find_headline
from judging.runs.models.runs import JudgeRun
from judging.stats.verdict import ORDER, Decision


@dataclass(frozen=True)
class ResultCell:
    """One judge on one criterion.

    Attributes
    ----------
    judge, judge_id, kind
        Its name, its row (None where only the agreement names it), and what it is where it is no model.
    run
        The judge's run that the figures are of.
    decision
        The verdict; None where there is none.
    kappa, ceiling
        The headline coefficient with people, and that of people among themselves on the same items.
    winning_rate, gained, biases
        Of the alternative-annotator test, of PPI++, and of the audits; None, None and nothing without a verdict.
    """

    judge: str
    judge_id: int | None
    kind: str
    run: int | None
    decision: Decision | None
    kappa: EstimateDocument
    ceiling: EstimateDocument
    winning_rate: float | None = None
    gained: EstimateDocument | None = None
    biases: tuple[str, ...] = ()


@dataclass(frozen=True)
class ResultRow:
    """One criterion: people among themselves by the headline coefficient, and a cell for each judge, or None.

    Attributes
    ----------
    people
        The coefficient among people; None where nobody rated.
    coefficient
        What it is called.
    part
        What n counts, turns or responses; empty for items.
    """

    key: str
    name: str
    people: EstimateDocument | None
    coefficient: str
    cells: tuple[ResultCell | None, ...]
    part: str = ""


@dataclass(frozen=True)
class ResultMatrix:
    """All criteria and judges."""

    judges: tuple[str, ...]
    rows: tuple[ResultRow, ...]

    def list_cells(self) -> list[tuple[ResultRow, ResultCell]]:
        """Each cell with its criterion, row by row."""
        return [(row, cell) for row in self.rows for cell in row.cells if cell]

    def count_decisions(self) -> dict[Decision, int]:
        """How many cells have which verdict, the best verdict first."""
        counts = Counter(cell.decision for _, cell in self.list_cells() if cell.decision)
        return {decision: counts[decision] for decision in reversed(ORDER) if counts[decision]}


def list_running(study: Study, judges: Iterable[StoredAssessment]) -> list[JudgeRun]:
    """Runs at work on the study of judges without a result yet: nothing was computed, or of no labelled item."""
    known = {one.judge.pk for one in judges if one.has_scores}
    runs = study.judge_runs.ordinary().running().exclude(judge__in=known).select_related("judge")
    return list({run.judge_id: run for run in runs.order_by("judge__name", "judge__version", "pk")}.values())


def list_outdated(study: Study, judges: Sequence[StoredAssessment]) -> list[StoredAssessment]:
    """Those computed of a run that was at work then and has finished since: they are of a part of its verdicts."""
    partial = {one.judge.pk: _list_unfinished_runs(one) for one in judges}
    pks = {pk for runs in partial.values() for pk in runs}
    finished = set(study.judge_runs.filter(pk__in=pks, finished_at__isnull=False).values_list("pk", flat=True))
    return [one for one in judges if finished & partial[one.judge.pk]]


def _list_unfinished_runs(one: StoredAssessment) -> set[int]:
    return {found["run"] for found in one.calibration.document["criteria"].values() if not found["run_finished"]}


def build_matrix(
    criteria: Iterable[Criterion],
    agreement: AgreementRun | None,
    judges: Sequence[StoredAssessment],
    without: Collection[str] = (),
) -> ResultMatrix:
    """The matrix of the criteria that have a coefficient or a verdict; not of the judges `without` any score yet."""
    documents = load_document(agreement)["criteria"] if agreement else {}
    verdicts = {(str(one.judge), found.key): _from_verdict(one, found.key) for one in judges for found in one.verdicts}
    named = [str(one.judge) for one in judges] + [name for found in documents.values() for name in found["judges"]]
    columns = tuple(name for name in dict.fromkeys(named) if name not in without)
    rows = []
    for criterion in criteria:
        key, document = criterion.key, documents.get(criterion.key)
        cells = tuple(verdicts.get((name, key)) or _from_agreement(name, document) for name in columns)
        if document or any(cells):
            people = find_headline(document) if document else None
            coefficient = document["headline"]["name"] if document else ""
            part = (
                ""
                if criterion.unit == Criterion.Unit.ITEM
                else _("responses")
                if criterion.of_responses
                else _("turns")
            )
            rows.append(ResultRow(key, criterion.name, people, coefficient, cells, part))
    return ResultMatrix(columns, tuple(rows))


def _from_verdict(one: StoredAssessment, key: str) -> ResultCell:
    verdict = next(found for found in one.verdicts if found.key == key)
    document = one.calibration.document["criteria"][key]
    return ResultCell(
        judge=str(one.judge),
        judge_id=one.judge.pk,
        kind=one.judge.kind,
        run=document["run"],
        decision=verdict.whole.decision,
        kappa=verdict.kappa,
        ceiling=verdict.ceiling,
        winning_rate=document["alt_test"]["winning_rate"] if document["alt_test"] else None,
        gained=document["gained"],
        biases=tuple(one.audit.document["criteria"][key]["found"]),
    )


def _from_agreement(judge: str, document: CriterionAgreementDocument | None) -> ResultCell | None:
    """A judge on a criterion that has no verdict: of marked spans, or not computed yet."""
    if document is None or judge not in document["judges"]:
        return None
    held, headline = document["judges"][judge], document["headline"]
    return ResultCell(judge, None, held["kind"], held["run"], None, held[headline["judge"]], held[headline["ceiling"]])


def draw_forest(matrix: ResultMatrix, raters: StudyRaters) -> str:
    """The forest plot of the matrix, as the page shows it: the same figures."""
    who = {one.criterion.key: raters.name_raters(one) for one in raters.criteria}
    rows = [_plot_row(row, row.people, who[row.key]) for row in matrix.rows if row.people]
    return charts.draw_on_page(charts.forest, rows) if rows else ""


def _plot_row(row: ResultRow, people: EstimateDocument, who: str) -> charts.Rows:
    """A criterion's part of the plot; its band is the ceiling of the judge that scored most items."""
    cells = [cell for cell in row.cells if cell]
    judges = [charts.Mark.from_estimate(charts.name_judge(one.judge, one.kind), "judge", one.kappa) for one in cells]
    most = max(cells, key=lambda one: one.kappa["n_items"] or 0, default=None)
    band = None
    if most and most.ceiling["low"] is not None and most.ceiling["high"] is not None:
        band = (most.ceiling["low"], most.ceiling["high"])
    return charts.Rows(row.name, [charts.Mark.from_estimate(who, "people", people), *judges], band)
