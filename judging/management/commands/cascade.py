"""`cascade`: a cheap judge, a dearer one, then people, at a guaranteed agreement."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.studies.queries.studies import study_called
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.assessment.options import CascadeOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.report_types import CriterionCascadeDocument, RecordedCascadeDocument, StudyCascadeDocument
from judging.assessment.services import cascade_records, cascades, rules
from judging.management.commands.judge import keys
from judging.stats.result_types import CascadeDocument


class Command(ConcordCommand[StudyCascadeDocument]):
    help = "What judges keep one after the other so that they agree with people, what that costs, and what is left."
    example = 'cascade --study "My study" --judges small,large --target 0.9 --json'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judges", required=True, metavar="A,B,…", help="in the order in which they are asked")
        parser.add_argument("--criterion", metavar="KEY", help="all by default")
        add_arguments(parser, CascadeOptions)
        parser.add_argument("--escalate", metavar="NAME", help="make a study of what is escalated to people")
        parser.add_argument("--overlap", type=int, default=3, help="people per item of that study (3)")

    def run(
        self, *, study: str, judges: str, criterion: str | None, escalate: str | None, overlap: int, **options: object
    ) -> StudyCascadeDocument:
        chosen = CascadeOptions.check(read_arguments(CascadeOptions, options))
        evidence = StudyData.load(study_called(study))
        each = evidence.load_judges(cascades.find_judges_in_order(evidence, keys(judges) or []))
        rules.lock(by=None, study=evidence.study)
        found = cascades.compute_cascade(each, chosen)
        if criterion:
            found = [one for one in found if one.criterion.key == criterion]
            if not found:
                raise InputError("{key!r} is not a criterion of all of these judges", field="criterion", key=criterion)
        document = cascades.document(each, found)
        document["on_record"] = cascade_records.compute_study(evidence)
        if escalate:
            made = cascades.escalate(by=None, each=each, found=found, options=chosen, name=escalate, overlap=overlap)
            document["escalated"] = {"study": made.target.name, "items": made.target.items.count()}
        return document

    def write_text(self, document: StudyCascadeDocument) -> None:
        for found in document["criteria"].values():
            self.stdout.write("\n".join(lines(found)))
        self.stdout.write(f"{document['left_to_people']} items without a label are escalated to people.")
        if document["on_record"]:
            self.stdout.write("\n".join(_back(document["on_record"])))
        if "escalated" in document:
            self.stdout.write(f"{document['escalated']['study']}: {document['escalated']['items']} items.")


def lines(found: CriterionCascadeDocument) -> Iterator[str]:
    """One criterion: the cascade, its judges alone, and what each stage does."""
    yield f"{found['name']}: agreement {found['target_agreement']:g}, failing with probability {found['delta']:g}"
    header = ["judges", "accepted without review", "agreement", "escalated to people", "cost per item (USD)"]
    rows = [_row(", then ".join(found["judges"]), found)]
    rows += [_row(f"{one['judges'][0]} alone", one) for one in found["alone"]]
    yield format_columns([header, *rows])
    for stage in found["stages"]:
        kept = f"keeps {stage['kept']} of {stage['reached']} from confidence {stage['threshold']}"
        yield f"  {stage['judge']}: {kept if stage['guaranteed'] else stage['reason']}"


def _back(found: RecordedCascadeDocument) -> Iterator[str]:
    """What people have said of what the newest cascade on record left to them."""
    yield f"{found['study']} holds {found['items']} items that {', then '.join(found['judges'])} escalated to people:"
    for one in found["criteria"].values():
        whole = "not yet known" if one["combined"] is None else f"{one['combined']:.3f}"
        confirmed = f"{found['judges'][-1]} confirmed {format_estimate(one['confirmed'])}"
        yield f"  {one['name']}: {one['labelled']} labelled, {confirmed}; mean of all items {whole}"


def _row(name: str, one: CascadeDocument) -> list[str]:
    cost = one["cost_per_item_usd"]
    estimates = [format_estimate(one[key]) for key in ("coverage", "agreement", "human_share")]
    return [name, *estimates, "unknown" if cost is None else f"{cost:.4f}"]
