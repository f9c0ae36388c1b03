"""`certificate`: what was found of a judge under stated rules, sealed."""

from __future__ import annotations

import json
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from core.files.writing import output_path, write_file
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.result_types import CertificateDocument
from judging.assessment.services import certificates
from judging.assessment.services.assessment import AssessmentRequest
from judging.management.commands.audit import add_rules, load_assessment, parse_rules, rule_changes
from judging.management.commands.calibrate import add_part_option


class Command(ConcordCommand[CertificateDocument]):
    help = "Issue the certificate of a judge on a study. It expires when the judge, its prompt or the items change."
    example = "certificate --study PandaLM --judge gpt-3.5-turbo -o certificate.json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="that has judged the study")
        parser.add_argument("-o", "--output", type=output_path, metavar="FILE", help="where to; - is standard output")
        add_part_option(parser)
        add_rules(parser)

    def run(
        self, *, study: str, judge: str, output: Path | None, part: str, rule: list[tuple[str, str]], reason: str,
        **_: object,
    ) -> CertificateDocument:  # fmt: skip
        evidence = StudyData.load(study_called(study), part)
        evidence.judge(judge)  # an unknown judge must not change the rules
        parse_rules(evidence.study, rule, reason)
        issued = certificates.issue(by=None, found=load_assessment(evidence, judge, AssessmentRequest()))
        document = certificates.document(issued)
        if output:
            text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
            write_file(output, text.encode())
        return document

    def write_text(self, document: CertificateDocument) -> None:
        content = document["content"]
        judge = content["judge"]
        self.stdout.write(f"{judge['name']} v{judge['version']} on {content['study']['name']}: {document['sha256']}")
        if content["held_out"]:
            self.stdout.write(f"  of the {content['held_out']['part']} part")
        for found in content["criteria"].values():
            self.stdout.write(f"  {found['name']}: {found['decision']}")
        self.stdout.write("".join(rule_changes(content["rules_on_record"])), ending="")
