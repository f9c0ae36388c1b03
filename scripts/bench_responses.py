"""Twenty annotators at once rate items of three responses on eight criteria: how long the next item takes, over HTTP.

    python scripts/bench_responses.py                       # 10,000 items, 20 people, 60 s, SQLite
    python scripts/bench_responses.py --items 500 --seconds 10

An item holds Markdown with code and a table, a picture, and a dialogue with a call of a tool; the criteria are of six
types (`tests/support/many_responses.py`). People, server and measures are those of `bench_annotate.py`. Fails where the
median of "save and next" is 100 ms or more, or where a label is lost.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from annotating.people import Person, Worked, rated
from annotating.server import ROOT, Meter, running_server
from annotating.study import SLUG, Made, analyze, session_of
from bench_annotate import line, percentile, prepared_environment, processor_line

LIMIT = 100  # ms
ANSWERS = {
    "best": "A",
    "helpful.A": "1",
    "helpful.B": "3",
    "helpful.C": "2",
    "order": "B>C>A",
    "ends": "B>C>A",
    "share": "35",
    "faults": "time",
    "errors.A": "[]",
    "errors.B": "[]",
    "errors.C": "[]",
    "why": "It counts the fish.",
}


class Comparer(Person):
    """Who rates three responses."""

    def choose_answers(self) -> dict[str, str]:
        return {**ANSWERS, "best": self.rng.choice("ABC"), "share": str(self.rng.randrange(100))}


def make_study(items: int, people: int, folder: Path) -> Made:
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.corpus.imports import records
    from annotation.studies.services import samples, studies
    from annotation.workbench.services import assignments
    from core.accounts.models.users import User
    from core.files.input_files import InputFile
    from tests.support.many_responses import RUBRIC, build_record

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    file = folder / "items.jsonl"
    file.write_text("".join(json.dumps(build_record(n)) + "\n" for n in range(items)))
    records.load(by=None, kind="pairs", file=InputFile(file, file.name))
    study = studies.create(by=None, name=SLUG, kind="pair", rubric=RUBRIC, overlap=3, seed=1)
    samples.draw(by=None, study=study)
    everybody = User.objects.bulk_create([User(username=f"person{n}") for n in range(people)])
    assignments.add_annotators(by=None, study=study, annotators=everybody)
    studies.open(by=None, study=study)
    analyze()
    return Made({person.pk: session_of(person) for person in everybody}, frozenset())


def count_lost(worked: Worked) -> int:
    """Items that were saved and do not have all their labels."""
    from annotation.studies.models.labels import Annotation

    lost = 0
    for person in worked.people:
        for slot in person.saved:
            lost += Annotation.objects.filter(assignment=slot).count() != len(ANSWERS)
    return lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=2.0, help="seconds between two items of one person, on average")
    parser.add_argument("--drafts", type=float, default=0.5)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="concord-bench-"))
    try:
        os.environ.update(prepared_environment("sqlite", folder, ""))
        sys.path.insert(0, str(ROOT))
        made = make_study(given.items, given.people, folder)
        with running_server(folder) as server, Meter(server.process.pid, "") as meter:
            worked = rated(given, made, server.port, meter, Comparer)
        return report(given, worked)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(given: argparse.Namespace, worked: Worked) -> int:
    seconds = [one for person in worked.people for one in person.seconds]
    problems = [f"{n} × {what}" for one in worked.people for what, n in one.problems.items()]
    lost = count_lost(worked)
    print(f"{given.people} annotators, {given.items:,} items of 3 responses, 8 criteria: {len(seconds):,} saved")
    print(line("save and next", seconds))
    print(line("draft", [one for person in worked.people for one in person.draft_seconds]))
    print(processor_line(worked, len(seconds)))
    print(f"   {'; '.join(problems) or 'no error'}; {lost} items lost labels")
    slow = not seconds or percentile(seconds, 0.5) >= LIMIT
    if slow:
        print(f"   MISSED: the median is not below {LIMIT} ms")
    return 1 if problems or lost or slow else 0


if __name__ == "__main__":
    sys.exit(main())
