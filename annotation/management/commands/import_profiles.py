"""python manage.py import_profiles FILE.jsonl"""

from __future__ import annotations

from annotation.management.imports import RecordsCommand


class Command(RecordsCommand):
    help = (
        "Import profiles from JSONL: id, name, persona, demographics, preferences, interests, interactions, memories."
    )
    example = "import_profiles fixtures/demo/profiles.jsonl --source demo"
    kind = "profiles"
