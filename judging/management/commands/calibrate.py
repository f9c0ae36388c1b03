"""`calibrate`: what a judge's verdicts are worth after correction, of a study or of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import get_args

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.stats.labels import RANKING
from annotation.stats.table import Level
from annotation.studies.queries.studies import study_called
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.assessment.agreement_types import LeftOutDocument
from judging.assessment.options import AssessmentOptions, CalibrationOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.result_types import (
    CalibrationDocument,
    CriterionCalibrationDocument,
    DifficultyAccuracyDocument,
    FileCalibrationDocument,
    SelectedCalibrationDocument,
)
from judging.assessment.services import assessment, file_calibration, hold_out, rules, runs
from judging.assessment.services.assessment import AssessmentRequest
from judging.assessment.services.file_calibration import FileColumns
from judging.judges.queries.study_items import HELD_OUT, PARTS
from judging.management.commands.agreement import check_source
from judging.stats.calibration_types import CorrectedDocument, RecalibrationDocument, SelectionDocument

AnyCalibration = CalibrationDocument | SelectedCalibrationDocument | LeftOutDocument | FileCalibrationDocument
"""Of a judge on a study, on the criterion that is asked for, or of a file."""


class Command(ConcordCommand[AnyCalibration]):
    help = "What a judge's verdicts are worth, by people's labels on some of the items of a study or of a CSV file."
    example = (
        "calibrate labels.csv --human gold --judge gpt-4 --json\n"
        "  python manage.py calibrate --study PandaLM --judge pandalm-7b"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", nargs="?", type=Path, metavar="LABELS.csv", help="a row per item; no human label = unlabelled"
        )
        parser.add_argument("--study", default="", help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="of the study; of a file its column")
        parser.add_argument("--criterion", metavar="KEY", help="of the study; all by default")
        add_part_option(parser)
        parser.add_argument(
            "--epsilon", type=float, help="of a study: discount in the alternative-annotator test (0.15)"
        )
        parser.add_argument("--human", metavar="COL", help="the file's column of people's labels")
        levels = [level for level in get_args(Level) if level != RANKING]
        parser.add_argument("--level", choices=levels, help="interval for over two numbers, otherwise nominal")
        parser.add_argument("--categories", metavar="A,B,…", help="the scale in order; by default what occurs")
        parser.add_argument("--positive", metavar="VALUE", help="of two labels, the one whose rate is asked for")
        parser.add_argument("--confidence-column", metavar="COL", help="the judge's confidence in each verdict")
        parser.add_argument("--weight-column", metavar="COL", help="survey weight: one over the inclusion probability")
        parser.add_argument("--cluster-column", metavar="COL", help="dialogue, profile or pair of each item")
        add_how(parser)

    def run(
        self, *, file: Path | None, study: str, criterion: str | None, part: str, epsilon: float | None, judge: str,
        human: str | None, level: Level | None, categories: str | None, confidence_column: str | None,
        weight_column: str | None, cluster_column: str | None, targets: str, **options: object,
    ) -> AnyCalibration:  # fmt: skip
        columns = {"confidence": confidence_column, "weight": weight_column, "cluster": cluster_column}
        of_file = {"human": human, "level": level, "categories": categories}
        of_file |= {f"{name}_column": column for name, column in columns.items()}
        check_source(file, study, {"criterion": criterion, "part": part, "epsilon": epsilon}, of_file)
        if file is None:
            told = {} if epsilon is None else {"epsilon": epsilon}
            asked = AssessmentOptions.check(parse_how(options, targets) | told)
            return assessment.select_criterion(calibrate_study(study, part, judge, asked), criterion)
        if not human:
            raise InputError("a file needs the column of people's labels", field="human")
        chosen = CalibrationOptions.check(parse_how(options, targets))
        scale = [one.strip() for one in categories.split(",")] if categories else None
        names = FileColumns(human, judge, **columns)
        return file_calibration.calibrate_file(file, names, chosen, level=level, categories=scale)

    def write_text(self, document: AnyCalibration) -> None:
        if "criteria" not in document and "estimand" not in document:
            self.stdout.write(f"{document['name']}: {document['reason']}")
            return
        for found in document["criteria"].values() if "criteria" in document else [document]:
            self.stdout.write("\n".join(_lines(document["judge"], found)))
        if "left_out" in document:
            self.stdout.write("".join(list_left_out(document["left_out"])), ending="")


def calibrate_study(study: str, part: str, name: str, asked: AssessmentOptions) -> CalibrationDocument:
    evidence = StudyData.load(study_called(study), part)
    judge = evidence.judge(name)
    rules.lock(by=None, study=evidence.study)
    if evidence.part != HELD_OUT:
        return runs.calibration(by=None, evidence=evidence.load_judge(judge), options=asked).document
    request = AssessmentRequest(asked)
    return hold_out.record_access(by=None, study=evidence.study, judge=judge, asked=request).calibration.document


def list_left_out(left_out: Iterable[LeftOutDocument]) -> Iterator[str]:
    """Criteria that a document of a study leaves out, each a line."""
    yield from (f"! {one['name']} is left out: {one['reason']}\n" for one in left_out)


def add_part_option(parser: CommandParser) -> None:
    """Which part of a study's items."""
    parser.add_argument(
        "--part",
        choices=PARTS,
        default="",
        help="of a study with a held-out part; development by default, and a look at held-out is on record",
    )


ELSEWHERE = ("positive", "targets", "cluster", "strata")
"""Options of a calibration that are not asked for, or in words of this command."""


def add_how(parser: CommandParser) -> None:
    """How to calibrate, the same for files and studies."""
    parser.add_argument("--targets", default="0.8,0.9,0.95", help="agreements to be guaranteed (0.8,0.9,0.95)")
    add_arguments(parser, CalibrationOptions, but=ELSEWHERE)


def parse_how(options: Mapping[str, object], targets: str) -> dict[str, object]:
    """What `add_how` asks for."""
    chosen = read_arguments(CalibrationOptions, options, but=ELSEWHERE)
    return {**chosen, "positive": options["positive"], "targets": _numbers(targets)}


def _numbers(listed: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in listed.split(","))
    except ValueError as error:
        raise InputError("{listed!r} is not a list of numbers like 0.8,0.9", field="targets", listed=listed) from error


def _lines(judge: str, found: CriterionCalibrationDocument | FileCalibrationDocument) -> Iterator[str]:
    # a file names its columns; a study's judge stands beside its people
    of, human = (f"{found['name']}: ", "people") if "name" in found else ("", found["human"])
    yield (
        f"{of}{judge} beside {human}: {found['estimand']}; {found['n_labelled']} labelled and "
        f"{found['n_unlabelled']} unlabelled items, {found['unscored']} unscored"
    )
    parts: Mapping[str, CorrectedDocument] = found["by_category"] or {"": found}
    for name, part in parts.items():
        yield format_columns(list(_corrected(name, part)))
    if found["rogan_gladen"]:
        yield format_columns([["Rogan-Gladen, as a cross-check", format_estimate(found["rogan_gladen"])]])
    if found["scores"]:
        yield f"scores before and after {found['scores']['method']} recalibration, out of sample"
        yield format_columns(list(_scores(found["scores"])))
    if "tiers" in found:
        yield from _by_difficulty(found["tiers"]["by_difficulty"])
    yield "selective judging"
    yield from (f"  {_promise(one)}" for one in found["selective"])
    yield found["second_opinion"]["message"]
    yield from (f"! {warning['message']}" for warning in found["warnings"])


def _corrected(name: str, part: CorrectedDocument) -> Iterator[list[str]]:
    of = f"{name}: " if name else ""
    yield [f"{of}people's labels alone", format_estimate(part["human_only"])]
    yield [f"{of}the judge alone, uncorrected", format_estimate(part["judge_only"])]
    worth = part["ppi"]["effective_n"]
    note = "" if worth is None else f"  lambda {part['ppi']['lambda']:.2f}, worth {worth:.0f} labels"
    yield [f"{of}corrected (PPI++)", format_estimate(part["ppi"]) + note]


def _scores(scores: RecalibrationDocument) -> Iterator[list[str]]:
    if scores["reason"]:
        yield ["no map", scores["reason"]]
    for name in ("ece", "brier", "mae", "sharpness"):
        before, after = scores["before"]["intervals"][name], scores["after"]["intervals"][name]
        yield [name, f"{format_estimate(before)} -> {format_estimate(after)}"]


def _by_difficulty(found: DifficultyAccuracyDocument) -> Iterator[str]:
    """Agreement by tier of the difficulty model."""
    if not found["by_tier"]:
        yield f"agreement with people's label by difficulty: unknown, {found['reason']}"
        return
    sure = "-" if found["sure"] is None else f"{found['sure']:.2f}"
    yield f"agreement with people's label by difficulty; an item's likeliest tier has probability {sure} on average"
    rows = found["by_tier"].items()
    yield format_columns(
        [[tier, format_estimate(one["accuracy"]), f"{one['items']:.1f} expected"] for tier, one in rows]
    )


def _person(one: SelectionDocument) -> str:
    found = one["intervals"]["agreement_with_person"]
    return "" if found["value"] is None else f"; {format_estimate(found)} with a random person"


def _promise(one: SelectionDocument) -> str:
    if not one["guaranteed"] or one["coverage"] is None:
        return f"agreement {100 * one['target_agreement']:.0f} %: no guarantee ({one['reason']})"
    return (
        f"agreement {100 * one['target_agreement']:.0f} %: accept without review from confidence "
        f"{one['threshold']:g} on, {100 * one['coverage']:.0f} % of the items; "
        f"at least {one['agreement_low']:.3f} agree with the majority{_person(one)}"
    )
