"""`judge_change`: is a new version of a judge closer to people than an older one?"""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.agreement.options import ResamplingOptions
from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.studies.queries.studies import study_called
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.assessment.agreement_types import VersionChangeDocument
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import improvement, rules


class Command(ConcordCommand[VersionChangeDocument]):
    help = (
        "The change in kappa from one version of a judge to another, paired on the items of both, and McNemar's test. "
        "Where a part is held out, on the development part."
    )
    example = 'judge_change --study "My study" --judge gpt-4 --against v1'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="the new version")
        parser.add_argument("--against", default="", metavar="VERSION", help="the old one (the version before)")
        add_arguments(parser, ResamplingOptions)

    def run(self, *, study: str, judge: str, against: str, **options: object) -> VersionChangeDocument:
        asked = ResamplingOptions(**read_arguments(ResamplingOptions, options))
        evidence = StudyData.load(study_called(study))
        new = evidence.judge(judge)
        old = improvement.find_previous_version(evidence, new, against)
        if old is None:
            raise InputError("no other version of {name} has judged this study", field="against", name=new.name)
        rules.lock(by=None, study=evidence.study)
        before, after = evidence.load_judges([old, new])
        return improvement.change(before, after, bootstrap=asked.bootstrap, seed=asked.seed)

    def write_text(self, document: VersionChangeDocument) -> None:
        self.stdout.write(f"{document['new']} − {document['old']} on {document['part']} items of {document['study']}")
        rows = []
        for key, one in document["criteria"].items():
            test = one["mcnemar"]
            p = f"p {test['p_value']:.3f}" if test["p_value"] is not None else test["reason"]
            rows.append(
                [
                    key,
                    format_estimate(one["figures"][one["figure"]]["difference"]),
                    f"{one['n_items']} items",
                    f"newly correct {test['gained']}, no longer {test['lost']}: {p}",
                ]
            )
        self.stdout.write(format_columns([["criterion", "change in kappa", "", "McNemar"], *rows]))
