"""`audit`: where a judge is wrong, what the data say of themselves, and the verdict."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.studies.models.studies import Study
from annotation.studies.queries.studies import study_called
from core.options.fields import add_arguments, read_arguments
from judging.assessment import wording
from judging.assessment.agreement_types import LeftOutDocument
from judging.assessment.options import AuditOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.result_types import (
    CriterionAuditDocument,
    JudgedCriterionAuditDocument,
    RulesRecordDocument,
    SelectedAuditDocument,
)
from judging.assessment.services import assessment, hold_out, rules, verdicts
from judging.assessment.services.assessment import Assessment, AssessmentRequest, NothingToAssessError
from judging.assessment.services.rules import StudyVerdictRules
from judging.judges.queries.study_items import HELD_OUT
from judging.management.commands.calibrate import add_part_option, list_left_out
from judging.stats.result_types import FindingDocument, PowerDocument, ProbeDocument


class Command(ConcordCommand[list[SelectedAuditDocument | LeftOutDocument]]):
    help = "The biases of a judge on a study, with tests corrected for their number, and the verdict on it."
    example = "audit --study PandaLM --judge gpt-3.5-turbo --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="that has judged the study")
        parser.add_argument("--criterion", metavar="KEY", help="all by default")
        add_arguments(parser, AuditOptions)
        add_part_option(parser)
        add_rules(parser)

    def run(
        self, *, study: str, judge: str, criterion: str | None, part: str, rule: list[tuple[str, str]], reason: str,
        **options: object,
    ) -> list[SelectedAuditDocument | LeftOutDocument]:  # fmt: skip
        chosen = AuditOptions(**read_arguments(AuditOptions, options))
        evidence = StudyData.load(study_called(study), part)
        evidence.judge(judge)  # an unknown judge must not change the rules
        parse_rules(evidence.study, rule, reason)
        try:
            found = load_assessment(evidence, judge, AssessmentRequest(audit=chosen))
        except NothingToAssessError as none:
            return list(none.evidence.left_out)
        return assessment.list_criteria(hold_out.audit_document(found), criterion)

    def write_text(self, document: list[SelectedAuditDocument | LeftOutDocument]) -> None:
        for found in document:
            if "probes" in found:
                self.stdout.write("\n".join(lines(found["judge"], found)))
            else:
                self.stdout.write(f"{found['name']}: {found['reason']}")
        for first in [one for one in document if "probes" in one][:1]:
            self._write_of_all(first)

    def _write_of_all(self, document: SelectedAuditDocument) -> None:
        self.stdout.write("".join(list_left_out(document["left_out"])), ending="")
        self.stdout.write("".join(rule_changes(document["rules_on_record"])), ending="")
        if document["leaks"]:
            listed = ", ".join(map(str, document["leaks"]))
            self.stdout.write(f"held-out items whose content is also in the development part: {listed}")


def load_assessment(evidence: StudyData, name: str, asked: AssessmentRequest) -> Assessment:
    """The judge on this part of the items; a look at the held-out part is on record."""
    judge = evidence.judge(name)
    if evidence.part == HELD_OUT:
        return hold_out.record_access(by=None, study=evidence.study, judge=judge, asked=asked)
    return assessment.assess_judge(by=None, evidence=evidence.load_judge(judge), asked=asked)


def add_rules(parser: CommandParser) -> None:
    """Rules of the verdict, set one by one before the first look, and changed on record after it."""
    parser.add_argument(
        "--rule",
        action="append",
        type=_rule,
        default=[],
        metavar="NAME=VALUE",
        help=f"a rule of the verdict, set at the first look: {', '.join(verdicts.NAMES)}",
    )
    parser.add_argument("--reason", default="", metavar="TEXT", help="why the rules change after the first look")


def parse_rules(study: Study, rule: Iterable[tuple[str, str]], reason: str) -> StudyVerdictRules:
    """The study's rules, with those that `add_rules` asks for. Raises InputError where that takes a reason."""
    return rules.resolve(by=None, study=study, given=dict(rule), reason=reason)


def rule_changes(record: RulesRecordDocument) -> Iterator[str]:
    """Each change of the rules after the first look, a line."""
    yield from (f"! {one['sentence']}\n" for one in record["changes"])


def _rule(typed: str) -> tuple[str, str]:
    name, equals, value = typed.partition("=")
    if not equals or name not in verdicts.NAMES:
        raise ArgumentTypeError(f"{typed!r} is not NAME=VALUE with one of {', '.join(verdicts.NAMES)}")
    return name, value


def lines(judge: str, found: JudgedCriterionAuditDocument) -> Iterator[str]:
    """One criterion for a person: the verdict with its reasons, then every probe."""
    verdict = found["verdict"]
    yield f"{found['name']}: {judge}: {verdict['decision'].upper()}"
    yield from (f"  {'+' if one['met'] else '-'} {one['message']}" for one in verdict["reasons"])
    yield from (f"  {tier} ({one['n_items']} items): {one['decision']}" for tier, one in verdict["tiers"].items())
    yield f"  replace is said of {power_line(verdict['power'])}"
    yield f"probes, {found['correction']}, level {found['level']:g}"
    header = ["probe", "effect", "test", "p", "adjusted", "found", "minimum detectable effect (80 % power)"]
    yield format_columns([header, *map(_probe, found["probes"])])
    yield from filter(None, map(_beside, found["probes"]))
    if found["not_probed"]:
        yield found["not_probed"]
    if people := found["people_position"]:
        yield f"people's position bias: {format_estimate(people['effect'])} ({people['unit']})"
    if found["tiers"]:
        yield f"tiers: {wording.item_tiers(found['tiers'])}"
    yield "trivial baselines"
    rows = [
        [one["name"], format_estimate(one["accuracy"]), f"judge {format_estimate(one['judge'])}"]
        for one in found["baselines"]
    ]
    yield format_columns(rows) if rows else "  fewer than 10 labelled items"
    copies = found["duplicates"]
    yield f"{copies['n_items']} items are copies of others; {copies['n_contradictory']} groups with other labels"
    yield from _labels(found)


def power_line(power: PowerDocument) -> str:
    """How often judges get *replace* in studies like this one."""
    if power["design"] is None:
        return f"judges as good as people: not known, {power['reason']}"
    judges = "; ".join(
        f"{100 * one['replace']:.1f} % [{100 * one['low']:.1f} %, {100 * one['high']:.1f} %] of judges "
        + (f"{one['below']:g} below the human ceiling" if one["below"] else "as good as people")
        for one in power["judges"]
    )
    return f"{judges} ({design_in_words(power['design'])})"


def design_in_words(design: Mapping[str, object]) -> str:
    """A design as a command prints it."""
    independent = design["n_clusters"] == design["n_items"]
    return (
        f"{design['n_items']} {'independent items' if independent else 'items'}"
        + ("" if independent else f" in {design['n_clusters']} clusters")
        + f", {design['n_raters']} people, kappa {design['kappa']:.2f}"
    )


def _labels(found: CriterionAuditDocument) -> Iterator[str]:
    """How noisy people's labels are, and whether somebody reads the scale backwards."""
    noise = found["labels"]
    rows = [[one["annotator"], format_number(one["accuracy"]), f"{one['n']} ratings"] for one in noise["annotators"]]
    yield "accuracy of annotators after Dawid and Skene"
    yield format_columns(rows) if rows else f"  {noise['reason']}"
    if noise["backwards"]:
        yield f"! read the scale backwards: {', '.join(noise['backwards'])}"
    yield f"judge–human correlation: {format_estimate(found['polarity'])}"


def format_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _beside(one: ProbeDocument) -> str:
    """What an alteration brought about, or how noisy the judge is, in words; empty for other probes."""
    details = one["details"]
    if "noise" in details:
        return f"  {one['name']}: the judge's noise is {format_estimate(details['noise'])} times a person's"
    if "obeyed" in details:
        said = f"gave way on {format_estimate(details['obeyed'])}, unasked {format_estimate(details['obeyed_unasked'])}"
    elif "changed_by_repeat" in details:
        again = format_estimate(details["changed_by_repeat"])
        said = f"changed {format_estimate(details['changed'])}, by asking again {again}"
    else:
        return ""
    left_out = details["nothing_to_alter"]["value"]
    return f"  {one['name']}: {said}" + (
        f"; nothing to alter in {100 * left_out:.0f} % of the items" if left_out else ""
    )


def _probe(one: FindingDocument) -> list[str]:
    said = {True: "found", False: "no", None: "not run"}[one["found"]]
    numbers = (one["p_value"], one["adjusted_p_value"], one["minimum_detectable_effect"])
    p, adjusted, least = ("-" if value is None else f"{value:.3f}" for value in numbers)
    return [one["name"], format_estimate(one["effect"]), one["test"], p, adjusted, said, least]
