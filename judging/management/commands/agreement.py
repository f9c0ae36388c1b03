"""`agreement`: how far people agree, and how far judges agree with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar, get_args

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.stats.by_level import explain_missing
from annotation.stats.result_types import HeadlineDocument
from annotation.stats.table import Level
from annotation.studies.models.studies import Study
from annotation.studies.parsing import rating_files
from annotation.studies.queries.studies import study_called
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.assessment import wording
from judging.assessment.agreement_figures import find_each
from judging.assessment.agreement_types import (
    AgreementDocument,
    AnnotatorGroupsDocument,
    CriterionAgreementDocument,
    ItemGroupDocument,
    JudgeDocument,
    SelectedAgreement,
)
from judging.assessment.options import SCORES, JudgedOptions
from judging.assessment.services import agreement, file_comparison
from judging.assessment.services.agreement import StudyRatings
from judging.stats.result_types import AltTestDocument, JudgeDifferenceDocument, JudgeFigure

Read = TypeVar("Read")
Found = TypeVar("Found")


class CriteriaDocument(TypedDict, Generic[Found]):
    """The documents of several criteria, by their keys."""

    study: str
    criteria: Mapping[str, Found]


class Command(ConcordCommand[SelectedAgreement]):
    help = "Inter-annotator and judge–human agreement, of a study or of a CSV file."
    example = "agreement ratings.csv --level ordinal --judge gpt-4\n  python manage.py agreement --study PandaLM --json"

    def arguments(self, parser: CommandParser) -> None:
        add_source(parser)
        parser.add_argument("--criterion", metavar="KEY", help="of the study; all by default")
        parser.add_argument(
            "--judge", action="extend", nargs="+", default=[], metavar="NAME", help="rater of the file that is a judge"
        )
        add_arguments(parser, JudgedOptions)
        parser.add_argument("--weight", default="", metavar="COLUMN", help="of a file: a weight for each item")

    def run(
        self, *, file: Path | None, study: str, criterion: str | None, level: Level | None, judge: list[str],
        categories: str | None, weight: str, **options: object,
    ) -> SelectedAgreement:  # fmt: skip
        of_study = {"criterion": criterion, "guideline_version": options["guideline_version"]}
        of_file = {"level": level, "judge": judge, "categories": categories, "weight": weight}
        check_source(file, study, of_study, of_file)
        chosen = JudgedOptions(**read_arguments(JudgedOptions, options))
        if file:
            if chosen.with_scores:
                raise InputError("--read score belongs to --study: a file holds verdicts", field="read")
            if not judge and chosen.epsilon != JudgedOptions().epsilon:
                raise InputError("--epsilon belongs to --judge: it is the judge's discount", field="epsilon")
            describing = tuple(name for name in (chosen.by, chosen.cluster, chosen.strata, weight) if name)
            read = read_file(file, level, categories, describing=describing)
            return file_comparison.compare_file(read, judge, chosen, weight=weight)
        called = study_called(study)
        ratings = StudyRatings.from_options(called, chosen)
        run = agreement.load_or_compute(
            by=None, study=called, options=chosen, ratings=ratings.only(criterion) if criterion else ratings
        )
        return agreement.select_criterion(agreement.load_document(run), criterion)

    def write_text(self, document: SelectedAgreement) -> None:
        if "criteria" in document:
            self.stdout.write(f"{document['study']}\n{format_columns(list(table(document)))}")
            for name, found in document["criteria"].items():
                self.stdout.write("\n".join(["", *criterion(name, found)]))
            for one in document.get("left_out", ()):
                self.stdout.write(f"\n{one['name']}: {one['reason']}")
        elif "coefficients" in document:
            self.stdout.write("\n".join(["", *criterion(document.get("criterion", "these items"), document)]))
        else:
            self.stdout.write(f"{document['name']}: {document['reason']}")


def add_source(parser: CommandParser) -> None:
    """A file or a study."""
    parser.add_argument("file", nargs="?", type=Path, metavar="RATINGS.csv", help="long (item,rater,value) or wide")
    parser.add_argument("--study", default="", help="name or slug")
    parser.add_argument(
        "--level",
        choices=[level for level in get_args(Level) if explain_missing("agreement", level) is None],
        help="of the file's scale (nominal); a value of ranking is such as B>A=C, of set such as accuracy|style",
    )
    parser.add_argument(
        "--categories",
        metavar="A,B,…",
        help="the file's scale in order, of rankings the responses, of sets what they may hold; by default what occurs",
    )


def check_source(file: Path | None, study: str, of_study: Mapping[str, object], of_file: Mapping[str, object]) -> None:
    """Raise InputError unless there is a file or a study, and nothing that belongs to the other."""
    if bool(file) == bool(study):
        raise InputError("give either a file of ratings or --study NAME")
    foreign, owner = (of_study, "--study") if file else (of_file, "a file of ratings")
    for name, value in foreign.items():
        if value is not False and value not in (None, "", []):
            raise InputError("--{name} belongs to {owner}", name=name.replace("_", "-"), owner=owner)


def choose_criteria(found: Iterable[str], key: str | None) -> list[str]:
    """The criterion of this key, or all where none is named. InputError where there is no such one."""
    names = list(found)
    if key is not None and key not in names:
        there = ", ".join(names)
        raise InputError("no criterion is called {key!r}; there are {there}", field="criterion", key=key, there=there)
    return names if key is None else [key]


def compute_criteria(
    study: Study, read: Mapping[str, Read], key: str | None, compute: Callable[[Read], Found]
) -> CriteriaDocument[Found] | Found:
    """One criterion's document, or those of each where there are several and none is named."""
    documents = {name: compute(read[name]) for name in choose_criteria(read, key)}
    return next(iter(documents.values())) if len(documents) == 1 else {"study": study.name, "criteria": documents}


def split_criteria(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The documents of the criteria by key, also of a document of only one, or of a file."""
    return dict(document.get("criteria", {document.get("criterion") or "": document}))


def read_file(
    path: Path, level: Level | None, categories: str | None, *, describing: tuple[str, ...] = ()
) -> rating_files.RatingsFile:
    """The file of ratings, on the scale that the options name."""
    scale = [part.strip() for part in categories.split(",")] if categories else None
    return rating_files.read(path, level=level or "nominal", categories=scale, describing=describing)


def table(document: AgreementDocument) -> Iterator[list[str]]:
    """Judge–human and inter-annotator agreement: a row per criterion and judge."""
    yield ["criterion", "judge", "judge–human agreement", "inter-annotator agreement", "coefficient", "items"]
    for row in document["table"]:
        judge = format_estimate(row["judge_agreement"]) if row["judge"] else "-"
        both = [judge, format_estimate(row["people_agreement"]), row["coefficient"]]
        yield [row["criterion"], row["judge"] or "-", *both, str(row["n_items"])]


def criterion(name: str, found: CriterionAgreementDocument) -> Iterator[str]:
    """Lines on one criterion: in words, then every figure, then what to beware of."""
    yield wording.describe_criterion(name, found)
    yield (
        f"{found['n_items']} items ({found['n_items_pairable']} with two ratings or more), {found['n_raters']} raters, "
        f"{found['n_ratings']} ratings, {found['level']}; seed {found['seed']}, {found['bootstrap']} resamples"
    )
    yield format_columns([[key.replace("_", " "), format_estimate(e)] for key, e in found["coefficients"].items()])
    headline = found["headline"]
    if found["pairs"]:
        kappa = headline["kappa"]
        yield f"pairs, {kappa.replace('_', ' ')}"
        yield format_columns([[f"{p['a']} / {p['b']}", format_estimate(p[kappa])] for p in found["pairs"]])
    for judge, held in found["judges"].items():
        yield f"judge {judge}: {held['scored']} scored, {held['unscored']} unscored{_read(held)}"
        yield format_columns(list(_judge(held, headline)))
        yield from _alt_test(held["alt_test"])
    yield from _differences(found["differences"], headline)
    yield from _groups(found.get("groups", []), headline)
    yield from _of_annotators(found.get("annotator_groups"), headline)
    yield found["dependence"]["message"]
    yield from (f"! {warning['message']}" for warning in found["warnings"])


def _judge(held: JudgeDocument, headline: HeadlineDocument) -> Iterator[list[str]]:
    first: list[JudgeFigure] = [headline["judge"], headline["ceiling"], headline["below"]]
    for key in (*first, "accuracy", "spearman", "mae"):
        if key in held:
            yield [key.replace("_", " "), format_estimate(held[key])]
    for annotator, kappa in held[find_each(headline)].items():
        yield [f"with {annotator}", format_estimate(kappa)]


def _differences(found: Sequence[JudgeDifferenceDocument], headline: HeadlineDocument) -> Iterator[str]:
    if not found:
        return
    yield f"{headline['name']} with people, difference between two judges on the items of both"
    rows = [(one, one["figures"][headline["judge"]]["difference"]) for one in found]
    yield format_columns(
        [[f"{one['a']} - {one['b']}", format_estimate(e), f"{one['n_items']} items"] for one, e in rows]
    )


def _groups(found: Sequence[ItemGroupDocument], headline: HeadlineDocument) -> Iterator[str]:
    if not found:
        return
    judges = list(found[0]["judges"])
    yield format_columns(
        [
            ["group", "items", "Fleiss' kappa", *judges],
            *(
                [
                    one["group"],
                    str(one["n_items"]),
                    format_estimate(one["fleiss_kappa"]),
                    *(format_estimate(one["judges"][name][headline["judge"]]) for name in judges),
                ]
                for one in found
            ),
        ]
    )


def _of_annotators(found: AnnotatorGroupsDocument | None, headline: HeadlineDocument) -> Iterator[str]:
    if found is None:
        return
    yield (
        f"annotators by what they answered: {found['answered']} of {found['people']} answered; groups of fewer than "
        f"{found['least_people']} left out: {found['groups_left_out']}"
    )
    judges = list(found["groups"][0]["judges"]) if found["groups"] else []
    yield format_columns(
        [
            ["group", "people", "items", "agreement", "Fleiss' kappa", *judges],
            *(
                [
                    one["group"],
                    str(one["n_raters"]),
                    str(one["n_items_pairable"]),
                    format_estimate(one["percent_agreement"]),
                    format_estimate(one["fleiss_kappa"]),
                    *(format_estimate(one["judges"][name][headline["judge"]]) for name in judges),
                ]
                for one in found["groups"]
            ),
        ]
    )


def _read(held: JudgeDocument) -> str:
    """What the judge's scores rest on, where they are read."""
    rests = ", ".join(f"{n} by {source}" for source, n in held["score_sources"].items())
    return f"; correlations and errors of scores: {rests}" if held["reads"] == SCORES else ""


def _alt_test(found: AltTestDocument | None) -> Iterator[str]:
    if found is None:
        return
    if found["passes"] is None:
        yield f"  alternative-annotator test: {found['reason']}"
        return
    yield (
        f"  alternative-annotator test, epsilon {found['epsilon']:g}: {'passed' if found['passes'] else 'not passed'}, "
        f"winning rate {found['winning_rate']:.2f}, advantage probability {format_estimate(found['advantage'])}"
    )
