"""`import_schema`: what preferences a profile may have."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from simulation.experiments.services import schemas


class Command(ConcordCommand[dict[str, dict[str, int]]]):
    help = (
        "Import the preference types of every domain with their possible values, as PersonaLens publishes them in "
        "schema.json. Evenness is then over all possible values, and generated profiles are checked against them."
    )
    example = "import_schema personalens/schema.json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="FILE", type=Path)
        parser.add_argument("--source", default="personalens", help="whose profiles it is about (personalens)")

    def run(self, *, path: Path, source: str, **_: object) -> dict[str, dict[str, int]]:
        counts = schemas.load(by=None, path=path, source=source)
        return {name: {"preference_types": n} for name, n in counts.items()}

    def write_text(self, document: dict[str, dict[str, int]]) -> None:
        said = ", ".join(f"{counts['preference_types']} {name}" for name, counts in document.items())
        self.stdout.write(f"Preference types: {said}.")
