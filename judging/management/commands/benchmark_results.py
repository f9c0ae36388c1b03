"""`benchmark_results`: how often models chose what people chose, with all that hangs on it."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.agreement.options import IntervalOptions
from annotation.benchmarks.queries import benchmarks
from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.management.imports import read_text
from core.options.fields import add_arguments, read_arguments
from judging.evaluations.result_types import EvaluationDocument
from judging.evaluations.services import failures, results
from judging.evaluations.services.ranks import compare, read_ranks
from judging.management.commands.evaluate import find_evaluation


class Command(ConcordCommand[EvaluationDocument]):
    help = "Accuracy of models on a benchmark by tier, kind and setting, with intervals over personas."
    example = "benchmark_results personafeedback-1 --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its address, or its name for the newest version")
        parser.add_argument("--evaluation", type=int, metavar="N", help="default: the newest")
        add_arguments(parser, IntervalOptions)
        parser.add_argument("--ranks", type=Path, metavar="FILE.csv", help="model and score, or rank, elsewhere")

    def run(
        self, *, benchmark: str, evaluation: int | None, ranks: Path | None, **options: object
    ) -> EvaluationDocument:
        asked = IntervalOptions(**read_arguments(IntervalOptions, options))
        examined = find_evaluation(benchmarks.find_benchmark(benchmark), evaluation)
        found = results.load_or_compute(examined, asked)
        tags = failures.counts(examined, bootstrap=asked.bootstrap, seed=asked.seed)
        document: EvaluationDocument = {**found, "failures": tags}
        if ranks:
            document["ranks"] = compare(examined, read_ranks(read_text(ranks), file=str(ranks)), asked)
        return document

    def write_text(self, document: EvaluationDocument) -> None:
        self.stdout.write(
            f"Evaluation {document['number']} of {document['benchmark']}: {document['n_cases']} cases of "
            f"{document['n_personas']} personas. {100 * document['confidence']:g} % intervals over personas."
        )
        cells = [cell for cell in document["cells"] if " " not in cell]
        named = {run["key"]: run for run in document["runs"]}
        rows = [["model", "setting", *cells, "unscored"]]
        for row in document["accuracy"]:
            run = named[row["key"]]
            figures = [format_estimate(row["cells"][cell]) for cell in cells]
            rows.append([run["judge"], run["setting_name"], *figures, f"{run['unscored']} of {run['answers']}"])
        rows += [
            [line["name"], "", *(format_estimate(line["cells"][cell]) for cell in cells), ""]
            for line in document["lines"]
        ]
        self.stdout.write(format_columns(rows))
        for warning in document.get("warnings", []):
            self.stdout.write(f"Note: {warning}")
        for one in document.get("ranks", []):
            self.stdout.write(
                f"Ranks elsewhere, {one['setting']}: {len(one['models'])} models, Spearman "
                f"{format_estimate(one['spearman'])}, Kendall {format_estimate(one['kendall'])}"
            )
