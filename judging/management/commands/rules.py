"""`rules`: the rules of a study's verdicts: see them, set them before the first look, change them on record."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from judging.assessment.result_types import StudyRulesDocument
from judging.assessment.services import rules, verdicts
from judging.management.commands.audit import add_rules, rule_changes


class Command(ConcordCommand):
    help = (
        "The rules of a study's verdicts and its criterion of success. They are locked at the first look at a judge's "
        "result; a change after that takes a reason, and stands on page, report and certificate."
    )
    example = 'rules "My study" --rule least_items=100 --success "assist and escalate"'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="name or slug")
        add_rules(parser)
        parser.add_argument("--success", choices=rules.SUCCESSES, help="what counts as a success (replace)")
        parser.add_argument(
            "--success-criteria", metavar="A,B,…", help="keys of the criteria that it takes; all of them if empty"
        )

    def run(self, **options: Any) -> StudyRulesDocument:
        study = study_called(options["study"])
        there = rules.load(study)
        wanted = verdicts.parse_rules(dict(options["rule"]), there.rules)
        listed = options["success_criteria"]
        success = rules.Success(
            options["success"] or there.success.decision,
            there.success.criteria if listed is None else tuple(filter(None, map(str.strip, listed.split(",")))),
        )
        rules.set_rules(by=None, study=study, rules=wanted, success=success, reason=options["reason"])
        return rules.document(study)

    def say(self, document: StudyRulesDocument) -> None:
        record = document["rules_on_record"]
        for label, value in verdicts.describe_rules(document["rules"]):
            self.stdout.write(f"{label}: {value}")
        self.stdout.write(f"Success: {rules.read_success(record['success']).in_words}")
        first = record["first_look"]
        locked = f"Locked at the first look on {first['at']} by {first['by']}" if first else "Nobody has looked yet"
        self.stdout.write(f"{locked}.")
        self.stdout.write("".join(rule_changes(record)), ending="")
