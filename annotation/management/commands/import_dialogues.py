"""python manage.py import_dialogues FILE.jsonl"""

from __future__ import annotations

from annotation.management.imports import RecordsCommand


class Command(RecordsCommand):
    help = "Import dialogues from JSONL: id, turns, profile_id, task_id, situation, assistant_model, condition."
    example = "import_dialogues fixtures/demo/dialogues.jsonl --source demo"
    kind = "dialogues"
