"""`plan_labels`: how many items of a study to label next, and which; and a study of them."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.studies.queries.studies import study_called
from core.options.fields import add_arguments, read_arguments
from judging.assessment.options import NewPlanned, PlanOptions
from judging.assessment.progress_types import LabellingPlanDocument
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import labelling_plans, rules
from judging.management.commands.audit import power_line
from judging.stats.result_types import NeededLabelsDocument


class Command(ConcordCommand[LabellingPlanDocument]):
    help = (
        "How many labels a corrected mean of a given width takes, with the judge and without; which items are next, "
        "each with the probability that it had. With --name, a study is made of them, and what comes back is weighted."
    )
    example = 'plan_labels --study "My study" --judge gpt-4 --criterion personalization --width 0.2 --by condition'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="that has judged the study")
        add_arguments(parser, NewPlanned, name=None)

    def run(
        self, *, study: str, judge: str, name: str | None, overlap: int, **options: object
    ) -> LabellingPlanDocument:
        evidence = StudyData.load(study_called(study))
        mine = evidence.load_judge(evidence.judge(judge))
        rules.lock_rules(by=None, study=evidence.study)
        chosen = PlanOptions.check(read_arguments(PlanOptions, options))
        found = labelling_plans.build_plan(mine, chosen)
        if name is None:
            return labelling_plans.document(mine, found)
        made = labelling_plans.make_study(by=None, evidence=mine, found=found, name=name, overlap=overlap)
        return {**labelling_plans.document(mine, found), "study": made.target.name, "slug": made.target.slug}

    def write_text(self, document: LabellingPlanDocument) -> None:
        if document["reason"] or document["needed"] is None:
            self.stdout.write(f"no plan: {document['reason']}")
        else:
            self.write_plan(document, document["needed"])
        self.stdout.write("how often the verdict would be replace, if no probe finds anything:")
        self.stdout.write("\n".join(f"  {power_line(one)}" for one in document["power"]))
        if back := document["came_back"]:
            self.stdout.write(
                f"{back['study']}: {back['labelled']} of {back['drawn']} drawn {back['noun']}s are labelled"
            )
            rows = [[name.replace("_", " "), format_estimate(back[name])] for name in ("human_only", "corrected")]
            self.stdout.write(format_columns(rows))

    def write_plan(self, document: LabellingPlanDocument, needed: NeededLabelsDocument) -> None:
        with_judge = "more than there are items" if needed["with_judge"] is None else f"{needed['with_judge']:.0f}"
        alone = "no number" if needed["without_judge"] is None else f"{needed['without_judge']:.0f}"
        self.stdout.write(
            f"labels for {document['estimand']} within a width of {needed['width']:g}: {with_judge} with "
            f"{document['judge']}, {alone} without; there are {needed['labelled']}"
        )
        if needed["dependence"]:
            self.stdout.write(needed["dependence"])
        for name, n in document["allocation"].items():
            self.stdout.write(f"  {name}: {n}")
        if document["no_draw"]:
            self.stdout.write(document["no_draw"])
        if document["items"] and document["cluster_draw"]:
            self.stdout.write(document["cluster_draw"])
        if document["items"]:
            listed = ", ".join(str(item["position"]) for item in document["items"])
            self.stdout.write(f"next, by position: {listed}")
