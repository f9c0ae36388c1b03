"""`manage.py audit_benchmark`: what can be said against a benchmark, and a cleaned version of it."""

from __future__ import annotations

from typing import final

from django.core.management.base import CommandParser

from annotation.benchmarks.options import AuditOptions
from annotation.benchmarks.queries import benchmarks
from annotation.benchmarks.result_types import BenchmarkDocument
from annotation.benchmarks.services import versions
from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.stats.benchmarks.cleaning import ABOUT, RULES
from annotation.stats.benchmarks.result_types import BenchmarkAuditDocument
from core.options.fields import add_arguments, read_arguments, split_names


@final
class AuditDocument(BenchmarkAuditDocument):
    benchmark: str
    input_hash: str


@final
class CleaningDocument(BenchmarkAuditDocument):
    benchmark: str
    input_hash: str
    cleaned: BenchmarkDocument


class Command(ConcordCommand[AuditDocument | CleaningDocument]):
    help = (
        "Audit a benchmark: pairs repeated across tiers, labels that contradict each other, rules that choose without "
        "reading, questions of several personas, scripts, keys of personas; each with n and an interval that resamples "
        "personas. With --clean, make a new version without the cases that the rules name: "
        + "; ".join(f"{name} ({about.rstrip('.')})" for name, about in ABOUT.items())
        + "."
    )
    example = "audit_benchmark PersonaFeedback --clean contradicting repeated --version-name 1-clean --release --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its address, or its name for the newest version")
        add_arguments(parser, AuditOptions)
        parser.add_argument("--clean", nargs="+", default=[], metavar="RULE", help=f"among {', '.join(RULES)}")
        parser.add_argument("--version-name", default="", metavar="VERSION", help="of the cleaned version")
        parser.add_argument("--notes", default="")
        parser.add_argument("--release", action="store_true", help="release the cleaned version at once")

    def run(
        self, *, benchmark: str, clean: list[str], version_name: str, notes: str, release: bool, **options: object
    ) -> AuditDocument | CleaningDocument:
        one = benchmarks.find_benchmark(benchmark)
        found = versions.audit(by=None, benchmark=one, **read_arguments(AuditOptions, options))
        result: BenchmarkAuditDocument = found.result
        document: AuditDocument = {"benchmark": one.slug, "input_hash": found.input_hash, **result}
        if rules := split_names(clean):
            name = version_name or f"{one.version}-clean"[: versions.LONGEST_VERSION]
            made = versions.clean(by=None, benchmark=one, rules=rules, version=name, notes=notes)
            if release:
                made = versions.release(by=None, benchmark=made)
            return {**document, "cleaned": benchmarks.row(made).to_json()}
        return document

    def write_text(self, document: AuditDocument | CleaningDocument) -> None:
        self.stdout.write(f"{document['n']} cases of {document['n_personas']} personas.")
        rows = [["tier", "cases", "in another tier", "with the opposite label"]]
        rows += [
            [one["tier"] or "all", str(one["n"]), str(one["recurring"]), str(one["opposite"])]
            for one in document["recurring"]
            if not one["kind"]
        ]
        self.stdout.write(format_columns(rows))
        rows = [["rule", "tier", "agrees"]]
        rows += [
            [one["rule"], one["tier"] or "all", format_estimate(one["accuracy"], digits=4)]
            for one in document["shortcuts"]
            if not one["kind"]
        ]
        self.stdout.write(format_columns(rows))
        if "cleaned" in document:
            cleaned = document["cleaned"]
            self.stdout.write(f"Made {cleaned['slug']}: {cleaned['counting']} of {cleaned['cases']} cases.")
