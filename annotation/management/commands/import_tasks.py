"""python manage.py import_tasks FILE.jsonl"""

from __future__ import annotations

from annotation.management.imports import RecordsCommand


class Command(RecordsCommand):
    help = "Import tasks from JSONL: id, description, intent, goal, domains, preference_types."
    example = "import_tasks fixtures/demo/tasks.jsonl --source demo"
    kind = "tasks"
