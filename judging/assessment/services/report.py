"""The report of a study: people, every judge with its verdict, how it was done; as one document and as files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from django.db.models import Max, Min
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import override

from annotation.agreement.result_types import DifficultyDocument
from annotation.agreement.services import difficulty
from annotation.studies.models.labels import AgreementRun, Annotation
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.dependence import read_dependence
from core.accounts.models.users import User
from core.version import code_version
from judging.assessment import (
    calibration_charts,
    calibration_figures,
    charts,
    latex,
    material_warnings,
    methods,
    wording,
)
from judging.assessment.agreement_types import CriterionAgreementDocument
from judging.assessment.models.assessment import Certificate
from judging.assessment.options import JudgedOptions
from judging.assessment.queries import certificates as certificate_queries
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.report_types import (
    CriterionSections,
    DesignDescription,
    JudgeDescription,
    JudgeSections,
    ReportDocument,
    ReportJudgeDocument,
    ReportPeopleDocument,
    ReportRulesDocument,
    Section,
)
from judging.assessment.result_types import CriterionCalibrationDocument
from judging.assessment.services import (
    agreement,
    assessment,
    cascade_records,
    cascades,
    certificate_checks,
    certificates,
    hold_out,
    judge_comparison,
    rules,
)
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.assessment import Assessment, AssessmentRequest
from judging.assessment.services.paper_kit import PaperKit
from judging.assessment.services.results import list_running
from judging.judges.models import Judge
from judging.stats.verdict import ORDER

FORMAT = "concord-report/1"
PAGE = "report"
"""The name under which its page is stored."""


def build_report(*, by: User | None, evidence: StudyData, asked: AssessmentRequest | None = None) -> ReportDocument:
    """Everything that is known of the study's judges, computed where it is not kept."""
    judges, _ = assessment.assess_judges(by=by, evidence=evidence, asked=asked or AssessmentRequest())
    return describe_judges(evidence, judges, by=by, patient=True)


@dataclass(frozen=True)
class ReportPage:
    """What the page shows: the document, its judges' ids by name, and the judges that are left to a worker."""

    document: ReportDocument
    judges: Mapping[str, int]
    waiting: tuple[str, ...]


def compute_page(*, by: User | None, study: Study) -> ReportPage:
    """The document with what is kept, or computed at once."""
    ratings = StudyRatings.read(study)
    evidence = StudyData.load(study, given=ratings.criteria)
    judges, waiting = assessment.assess_judges(by=by, evidence=evidence, asked=AssessmentRequest(), patient=False)
    return build_page(describe_judges(evidence, judges, by=by, ratings=ratings), judges, waiting)


def build_page(document: ReportDocument, judges: Iterable[Assessment], waiting: Iterable[Judge] = ()) -> ReportPage:
    """Name the judges of a document."""
    return ReportPage(document, {str(one.judge): one.judge.pk for one in judges}, tuple(map(str, waiting)))


def describe_judges(
    evidence: StudyData,
    judges: Sequence[Assessment],
    *,
    by: User | None = None,
    patient: bool = False,
    ratings: StudyRatings | None = None,
    kept: AgreementRun | None = None,
) -> ReportDocument:
    """The document of these judges. People's agreement is the kept result that the page on agreement shows.

    Who is not patient is told where a worker has yet to fit the difficulty model. `ratings` and `kept` are the labels
    of the study and the agreement on them, where they are read already.
    """
    study, sealed = evidence.study, certificate_queries.newest_by_judge(evidence.study)
    options = JudgedOptions()
    ratings = ratings or StudyRatings.from_options(study, options)
    kept = kept or agreement.load_or_compute(by=by, study=study, options=options, ratings=ratings)
    people = _people(evidence, kept)
    results = [one.calibration.document for one in judges], [one.audit.document for one in judges]
    started = {run.judge_id for run in list_running(study, judges)}
    scored = [one for one in judges if one.judge.pk not in started]
    cascade = cascades.describe_usual([one.evidence for one in judges if one.has_scores])
    by_model = _difficulty(ratings, patient=patient)
    design = _describe_design(evidence, judges, ratings)
    how = methods.methods(people, *results, cascade, difficulty=by_model, design=design)
    return {
        "format": FORMAT,
        "study": {
            "name": study.name,
            "kind": study.kind,
            "description": study.description,
            "n_items": study.items.count(),
        },
        "summary": _summarise(people, scored, design),
        "without_scores": [str(one.judge) for one in judges if one.judge.pk in started],
        "generated_at": timezone.now().isoformat(timespec="seconds"),
        "code_version": code_version(),
        "people": people,
        "difficulty": by_model,
        "agreement_run": kept.pk,
        "dependence": _describe_dependence(evidence, people),
        "raters": {"people": design["n_people"], "simulated": design["n_simulated"]},
        "simulated": [ratings.annotators[name].name for name in ratings.list_simulated()],
        "annotators": {name: one.name for name, one in ratings.annotators.items()},
        "same_models": material_warnings.load_material_warnings(study, [one.judge for one in judges]),
        "left_out": list(evidence.left_out),
        "held_out": hold_out.compute_study(study),
        "rules_on_record": describe_rules(study),
        "judges": {str(one.judge): _judge(one, sealed.get(one.judge.pk)) for one in judges},
        "cascade": cascade,
        "cascade_on_record": cascade_records.compute_study(evidence),
        "differences": judge_comparison.compare_judges([one.evidence for one in judges]),
        "methods": how.to_json(),
    }


def _summarise(
    people: Mapping[str, ReportPeopleDocument], judges: Sequence[Assessment], design: DesignDescription
) -> str:
    """Say how far people agree, and what the verdicts on the judges are."""
    n, simulated = design["n_people"] + design["n_simulated"], design["n_simulated"]
    names = {key: found["name"] for key, found in people.items()}
    decisions = Counter(verdict.whole.decision for one in judges for verdict in one.verdicts)
    counts = {decision: decisions[decision] for decision in reversed(ORDER) if decisions[decision]}
    with override("en"):  # as in the report's files
        agree = wording.summarise_people(names, people, n_raters=n, simulated=simulated) if people else ""
        return f"{agree} {wording.summarise_decisions(counts)}".strip()


def _describe_dependence(evidence: StudyData, people: dict[str, ReportPeopleDocument]) -> str:
    """How intervals are made, by the first criterion of each unit that criteria are asked of."""
    units = {criterion.key: criterion.unit for criterion in evidence.study.criteria.all()}
    first = {units[key]: one["dependence"]["message"] for key, one in reversed(people.items())}
    return " ".join(first[unit] for unit in dict.fromkeys(units[key] for key in people))


def _describe_design(evidence: StudyData, judges: Sequence[Assessment], ratings: StudyRatings) -> DesignDescription:
    """What the methods paragraph says of items, raters and judges."""
    study = evidence.study
    labels = Annotation.objects.only_counting().filter(assignment__study=study)
    days = labels.aggregate(first=Min("assignment__submitted_at"), last=Max("assignment__submitted_at"))
    simulated = ratings.list_simulated()
    asked_of: dict[str, list[str]] = {}
    for criterion in evidence.criteria:
        if criterion.unit != Criterion.Unit.ITEM:
            asked_of.setdefault(criterion.get_unit_display(), []).append(criterion.name)
    return {
        "items": study.get_kind_display(),
        "clusters": read_dependence(study).in_words,
        "asked_of": asked_of,
        "samples": list(study.samples.order_by("pk").values("method", "strata", "frame_size", "size", "seed")),
        "n_people": len({name for one in ratings.criteria for name in one.table.raters} - set(simulated)),
        "n_simulated": len(simulated),
        "labelled": [time.date().isoformat() for time in days.values() if time],
        "judges": [_describe_judge(one) for one in judges],
        "code_version": code_version(),
    }


def _describe_judge(one: Assessment) -> JudgeDescription:
    calibration = one.calibration.document
    runs = {found["run"] for found in calibration["criteria"].values()}
    return {
        "name": str(one.judge),
        "kind": one.judge.kind,
        "provider": one.judge.provider,
        "model": one.judge.model,
        "version": one.judge.version,
        "prompts": calibration["prompts"],
        "judged": [time.date().isoformat() for time in certificate_queries.load_judging_period(runs) if time],
        "resamples": one.calibration.parameters["bootstrap"],
    }


def describe_rules(study: Study) -> ReportRulesDocument:
    """By which rules, and how they came about; people by name, as the document is made anew each time."""
    there = rules.load(study)
    return {**there.to_json(rules.load_names(there.rows)), "success_in_words": there.success.in_words}


OF_JUDGES = frozenset({"judges", "differences", "conventions"})
"""Parts of a kept agreement that are about judges, or say how to read it; the report says these elsewhere."""


def _people(evidence: StudyData, kept: AgreementRun) -> dict[str, ReportPeopleDocument]:
    """Agreement of people on each criterion that anybody rated: those that judges are held to, and marked spans."""
    spans = evidence.study.criteria.filter(type=Criterion.Type.SPANS, unit=Criterion.Unit.ITEM)
    documents = agreement.load_document(kept)["criteria"]
    found = {c.key: (c.name, documents[c.key]) for c in [*evidence.criteria, *spans]}
    return {key: _of_people(name, document) for key, (name, document) in found.items() if document["n_ratings"]}


def _of_people(name: str, document: CriterionAgreementDocument) -> ReportPeopleDocument:
    """With the coefficients that the table of people shows besides the headline: of each two there is one."""
    figures = {part: one for part, one in document.items() if part not in OF_JUDGES}
    coefficients = document["coefficients"]
    more = {
        "alpha": coefficients.get("krippendorff_alpha") or coefficients["unitizing_alpha"],
        "same": coefficients.get("percent_agreement") or coefficients["exact_f1"],
    }
    return cast("ReportPeopleDocument", {"name": name, **figures, **more})


def _difficulty(ratings: StudyRatings, *, patient: bool) -> dict[str, DifficultyDocument]:
    """Tiers and people by the difficulty model, of each criterion; people also by the name that pages show."""
    found = difficulty.summaries(ratings.criteria, patient=patient)
    for one in found.values():
        one["people"] = [
            {**person, "name": ratings.annotators[person["person"]].name} for person in one.get("people", ())
        ]
    return found


def _judge(one: Assessment, certificate: Certificate | None) -> ReportJudgeDocument:
    checked = certificate_checks.check(certificates.document(certificate)) if certificate else None
    return {
        "kind": one.judge.kind,
        "model": one.judge.model,
        "decision": one.decision,
        "is_success": one.is_success,
        "calibration": one.calibration.document,
        "audit": one.audit.document,
        "verdicts": {verdict.key: verdict.to_json() for verdict in one.verdicts},
        "rules": one.rules.to_json(),
        "runs": {"calibration": one.calibration.pk, "audit": one.audit.pk},
        "input_hash": one.calibration.input_hash,
        "certificate": certificate.sha256 if certificate else None,
        "certificate_state": checked.state if checked else None,
    }


def regroup_by_criterion(sections: Sequence[JudgeSections]) -> list[CriterionSections]:
    """The same by criterion, with its judges."""
    found: dict[str, CriterionSections] = {}
    for part in sections:
        for section in part["criteria"]:
            key, name = section["found"]["criterion"], section["found"]["name"]
            place = found.setdefault(key, {"key": key, "name": name, "judges": []})
            place["judges"].append({"judge": part["judge"], "of": part["of"], "section": section})
    return list(found.values())


def sections(document: ReportDocument, draw: charts.Draw) -> list[JudgeSections]:
    """What a page needs of each judge and criterion beside the document: rows of tables, and plots."""
    return [
        {
            "judge": name,
            "of": found,
            "criteria": [
                _section(name, found, key, calibration, draw)
                for key, calibration in found["calibration"]["criteria"].items()
            ],
        }
        for name, found in document["judges"].items()
        if name not in document["without_scores"]
    ]


def _section(
    judge: str, found: ReportJudgeDocument, key: str, calibration: CriterionCalibrationDocument, draw: charts.Draw
) -> Section:
    return {
        "of": f"{calibration['name']}, {judge}",
        "found": calibration,
        "verdict": found["verdicts"][key],
        "audit": found["audit"]["criteria"][key],
        "correction": calibration_figures.correction(calibration),
        "corrected": calibration_figures.list_corrected(calibration),
        "groups": calibration_figures.groups(calibration),
        "boards": calibration_figures.leaderboards(calibration),
        "plots": draw_plots(calibration, draw),
    }


def draw_plots(calibration: CriterionCalibrationDocument, draw: charts.Draw) -> list[dict[str, str]]:
    """The plots of a judge on a criterion, each with its caption."""
    return [
        {"caption": plot.caption, "svg": draw(plot.spec, rows)}
        for plot in calibration_charts.PLOTS.values()
        if (rows := plot.rows(calibration))
    ]


def to_html(document: ReportDocument) -> str:
    """One file without anything outside it, for reading and printing."""
    found = sections(document, charts.draw_in_file)
    context = {"report": document, "sections": found, "criteria": regroup_by_criterion(found), "whole": True}
    return render_to_string("judging/report_file.html", context)


def to_json(document: ReportDocument) -> str:
    """The document itself."""
    return json.dumps(document, ensure_ascii=False, indent=1)


def to_archive(document: ReportDocument) -> bytes:
    """Everything that a paper needs of it, in one ZIP archive."""
    return PaperKit(document).write_archive(to_html(document), to_json(document))


FORMATS: dict[str, tuple[str, Callable[[ReportDocument], str | bytes]]] = {
    "zip": ("zip", to_archive),
    "pdf": ("pdf", lambda document: PaperKit(document).write_pdf()),
    "html": ("html", to_html),
    "latex": ("tex", latex.report),
    "bibtex": ("bib", lambda document: PaperKit(document).write_bibtex()),
    "json": ("json", to_json),
}
"""By the name of the format: the ending of a file, and what is in it."""
