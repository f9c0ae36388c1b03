"""python manage.py import_scenarios FILE.jsonl"""

from __future__ import annotations

from typing import Any

from annotation.corpus.imports import records
from annotation.management.imports import RecordsCommand
from core.files.input_files import InputFile


class Command(RecordsCommand):
    help = "Import scenarios from JSONL, which say who has which task: profile_id, task_id, situation."
    example = "import_scenarios fixtures/gardening/scenarios.jsonl --source gardening"

    def run(self, **options: Any) -> object:
        file = InputFile.from_path(options["path"])
        outcome = records.load_scenarios(by=None, file=file, source=options["source"], on_error=options["on_error"])
        return outcome.to_document()
