"""`probe`: let a judge rate altered copies of some items."""

from __future__ import annotations

from argparse import BooleanOptionalAction
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import format_columns
from annotation.studies.queries.studies import study_called
from core.accounts.models.projects import Project, check_project
from core.audit.log import audit_batch
from core.options.fields import add_arguments, read_arguments
from judging.assessment.options import ProbeOptions
from judging.assessment.services import probes
from judging.judges.services import judges
from judging.management.commands import judge as judging
from judging.management.commands.judge import RunDocument
from judging.runs.services.runs import Plan


class Command(judging.Command):
    help = (
        "Let a judge rate some items of a study as they are and altered: with planted instructions, under another "
        "name, in other formatting. `audit` then says what moved it. What it says of them counts nowhere else."
    )
    example = "probe --study PandaLM --judge baseline --alterations injection,invariance:names --now"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="that can be run here")
        add_arguments(parser, ProbeOptions)
        parser.add_argument("--estimate", action="store_true", help="say what it would take, and start nothing")
        parser.add_argument("--now", action="store_true", help="work in this process, without a worker")
        parser.add_argument("--wait", action=BooleanOptionalAction, default=True, help="stay until the run is over")

    def run(
        self, *, study: str, judge: str, estimate: bool, now: bool, wait: bool, project: Project | None = None,
        **options: object,
    ) -> RunDocument:  # fmt: skip
        check_project(study_called(study), project)
        plan = build_plan(study, judge, options)
        if estimate:
            told = judging.describe_plan(plan)
            found = told.pop("estimate")
            return {**told, "unit": plan.unit, **describe_probe(plan.probe), "estimate": found}
        judges.probe(plan.judge)  # may wait on the network, so not while the database is locked
        with audit_batch():
            run = self.find_or_start_run(plan, now=now)
        self.work_or_wait(run, now=now, wait=wait)
        return {**judging.document(run), **describe_probe(run.probe)}

    def write_text(self, document: RunDocument) -> None:
        super().write_text(document)
        items, left_out = document["items"], document["left_out"]
        rows = [[name, str(items - left_out.get(name, 0))] for name in document["alterations"]]
        self.stdout.write(format_columns([["altered copies", f"of {items} {document['unit']}s"], *rows]))


def build_plan(name: str, judge: str, options: Mapping[str, object]) -> Plan:
    study = study_called(name)
    found, asked = probes.find_judge(study, judge), read_arguments(ProbeOptions, options)
    return probes.plan(study=study, judge=found, options=ProbeOptions.check(asked))


def describe_probe(probe: Mapping[str, Any]) -> RunDocument:
    """What a probe run says of its copies: versions of the alterations, items, and how many could not be altered."""
    return {"alterations": probe["alterations"], "items": probe["n_items"], "left_out": probe["left_out"]}
