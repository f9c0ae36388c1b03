"""python manage.py import_scenarios FILE.jsonl"""

from __future__ import annotations

from pathlib import Path

from annotation.corpus.imports import records
from annotation.management.imports import RecordsCommand
from core.files.input_files import InputFile, OnError
from core.files.outcome import ImportDocument


class Command(RecordsCommand):
    help = "Import scenarios from JSONL, which say who has which task: profile_id, task_id, situation."
    example = "import_scenarios fixtures/gardening/scenarios.jsonl --source gardening"

    def run(self, *, path: Path, source: str, on_error: OnError, **_: object) -> ImportDocument:
        file = InputFile.from_path(path)
        return records.load_scenarios(by=None, file=file, source=source, on_error=on_error).to_document()
