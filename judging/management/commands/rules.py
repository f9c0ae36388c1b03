"""`rules`: the rules of a study's verdicts: see them, set them before the first look, change them on record."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from core.options.fields import split_names
from judging.assessment.result_types import StudyRulesDocument
from judging.assessment.services import rules, verdicts
from judging.management.commands.audit import add_rules, rule_changes


class Command(ConcordCommand[StudyRulesDocument]):
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

    def run(
        self, *, study: str, rule: list[tuple[str, str]], reason: str, success: str | None,
        success_criteria: str | None, **_: object,
    ) -> StudyRulesDocument:  # fmt: skip
        called = study_called(study)
        there = rules.load(called)
        wanted = verdicts.parse_rules(dict(rule), there.rules)
        criteria = there.success.criteria if success_criteria is None else tuple(split_names(success_criteria))
        aim = rules.Success(success or there.success.decision, criteria)
        rules.set_rules(by=None, study=called, rules=wanted, success=aim, reason=reason)
        return rules.document(called)

    def write_text(self, document: StudyRulesDocument) -> None:
        record = document["rules_on_record"]
        for label, value in verdicts.describe_rules(document["rules"]):
            self.stdout.write(f"{label}: {value}")
        self.stdout.write(f"Success: {rules.read_success(record['success']).in_words}")
        first = record["first_look"]
        locked = f"Locked at the first look on {first['at']} by {first['by']}" if first else "Nobody has looked yet"
        self.stdout.write(f"{locked}.")
        self.stdout.write("".join(rule_changes(record)), ending="")
