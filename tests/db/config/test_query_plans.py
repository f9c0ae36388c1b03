"""What is asked most often walks an index, however many rows there are: the database's own plan says so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from annotation.corpus.models import Dialogue
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries.labels import load_people
from annotation.studies.queries.studies import list_rated_items
from annotation.workbench.queries import adjudication, queue_position, work
from annotation.workbench.services.assignments import list_open_assignments
from core.accounts.models.users import User
from core.row_counts import LARGE as MOST
from judging.assessment.queries import items as judged_items
from judging.runs.models.runs import JudgeChunk, JudgeRun, Judgment
from judging.runs.queries import runs
from judging.runs.queries.labels import load_judges
from tests.support.factories import CriterionFactory, JudgeFactory, JudgeRunFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db

LARGE = {model._meta.db_table for model in (Annotation, Assignment, Dialogue, Item, Judgment)}
"""Tables that no page may read from end to end."""

Asked = Callable[[Study, User, JudgeRun], QuerySet[Any, Any]]

QUERYSETS: dict[str, Asked] = {
    "items of a study, a page of positions": lambda study, me, run: study.items.order_by("position")[:50],
    "items at these positions": lambda study, me, run: judged_items.list_items(study).filter(position__in=[1, 2, 3]),
    "the item after a position": lambda study, me, run: study.items.filter(position__gt=2).order_by("position")[:50],
    "what people said of an item": lambda study, me, run: judged_items.load_annotations(study.items.all()[0]),
    "what judges said of an item": lambda study, me, run: judged_items.load_judgments(study.items.all()[0]),
    "what one item is disputed about": lambda study, me, run: Annotation.objects.only_counting().filter(
        assignment__item=study.items.all()[0], criterion=study.criteria.all()[0]
    ),
    "whether a study is large": lambda study, me, run: (
        Assignment.objects.filter(study=study, state="submitted").order_by().values("pk")[MOST : MOST + 1]
    ),
    "slots that are free": lambda study, me, run: list_open_assignments(me, study)[:1],
    "what I hold": lambda study, me, run: work.list_mine(me).filter(pk=1),
    "what I submitted": lambda study, me, run: work.list_submitted(me, study)[:20],
    "labels after a key, in the API": lambda study, me, run: Annotation.objects.filter(
        pk__gt=100, assignment__study=study
    ).order_by("pk")[:101],
    "labels by their keys, in the API": lambda study, me, run: load_people(study).records.filter(pk__in=[1, 2, 3]),
    "judgments of a run after a key, in the API": lambda study, me, run: Judgment.objects.filter(
        run=run, pk__gt=100
    ).order_by("pk")[:101],
    "the newest judgments of a run": lambda study, me, run: Judgment.objects.filter(run=run).order_by("-pk")[:12],
    "the newest replies of a run without a verdict": lambda study, me, run: Judgment.objects.filter(
        run=run, value="", unscored_reason="refusal"
    ).order_by("-pk")[:12],
    "judgments of a run on one item, in the API": lambda study, me, run: Judgment.objects.filter(
        run=run, item__study=study, item__position=2
    ).order_by("pk")[:101],
    "whether a run is large": lambda study, me, run: run.judgments.order_by("pk").values("pk")[MOST : MOST + 1],
    "judgments of texts that were written since": lambda study, me, run: run.judgments.stale().filter(
        runs.filter_written_since(run.created_at, study)
    ),
    "texts that were written since": lambda study, me, run: Dialogue.objects.filter(updated_at__gte=run.created_at),
    "parts of a run": lambda study, me, run: JudgeChunk.objects.filter(run=run, finished_at=None),
    "dialogues after a key": lambda study, me, run: Dialogue.objects.filter(pk__gt=100).order_by("pk")[:101],
    "how many labels each item of a study has": lambda study, me, run: list_rated_items(study),
    "labels of some items": lambda study, me, run: Annotation.objects.only_counting().filter(
        assignment__study=study, assignment__item__in=[1, 2, 3]
    ),
    "verdicts on some items": lambda study, me, run: Judgment.objects.filter(run__in=[run.pk], item__in=[1, 2, 3]),
    "items by their positions": lambda study, me, run: Item.objects.filter(study=study, position__in=[1, 2, 3]),
    "who holds or has submitted something of a study": lambda study, me, run: User.objects.filter(
        Exists(Assignment.objects.filter(study=study, annotator=OuterRef("pk")))
    ),
    "labels of a study up to a number": lambda study, me, run: load_people(study).plain.order_by()[: MOST + 1],
    "verdicts of a study up to a number": lambda study, me, run: load_judges(study).plain.order_by()[: MOST + 1],
    "late answers of a study": lambda study, me, run: adjudication.Draft.objects.filter(
        assignment__study=study, state="late"
    ),
}


@pytest.fixture
def asked() -> tuple[Study, User, JudgeRun]:
    criterion = CriterionFactory(study=with_items(4))
    people_say(criterion, {"bob": ["1", "2", "3", "1"], "charlie": ["1", "1", "3", "2"]})
    run = JudgeRunFactory(study=criterion.study, judge=JudgeFactory())
    return criterion.study, User.objects.get(username="bob"), run


def read_whole(sql: str, params: Any) -> set[str]:
    """The large tables that the database would read from end to end for this."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")  # four rows are read fastest without any index
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
            (plan,) = cursor.fetchone()
            plan = json.loads(plan) if isinstance(plan, str) else plan
            return {node["Relation Name"] for node in nodes(plan[0]["Plan"]) if node["Node Type"] == "Seq Scan"} & LARGE
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        steps = [row[3] for row in cursor.fetchall()]
    aliases = {alias: table for table, alias in re.findall(r'"(\w+)" (\w+)\b', sql)} | {table: table for table in LARGE}
    scanned = [step.split()[1] for step in steps if step.startswith("SCAN") and "USING" not in step]
    return {aliases.get(name, name) for name in scanned} & LARGE


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(found for part in plan.get("Plans", []) for found in nodes(part))]


@pytest.mark.parametrize("name", QUERYSETS)
def test_lists_and_items_are_found_by_an_index(asked, name):
    sql, params = QUERYSETS[name](*asked).query.sql_with_params()
    assert read_whole(sql, params) == set()


def indexes(rows: QuerySet[Any, Any]) -> str:
    """The database's plan where it sorts nothing that an index gives in order."""
    sql, params = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_sort = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")
            cursor.execute(f"EXPLAIN {sql}", params)
            return " ".join(row[0] for row in cursor.fetchall())
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        return " ".join(row[3] for row in cursor.fetchall())


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("judgments of a run after a key, in the API", "judgment_of_run"),
        ("the newest judgments of a run", "judgment_of_run"),
        ("the newest replies of a run without a verdict", "judgment_unscored"),
        ("whether a run is large", "judgment_of_run"),
        ("texts that were written since", "dialogue_written"),
    ],
)
def test_the_index_that_was_made_for_it_is_used_and_nothing_sorted(asked, name, index):
    plan = indexes(QUERYSETS[name](*asked))
    assert index in plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize("name", ["COUNTS", "STANDING"])
def test_what_decides_on_the_next_item_is_found_by_an_index(asked, name):
    study, me, _ = asked
    parameters = {"me": me.pk, "study": study.pk, "most": queue_position.LOOK_AHEAD, "held0": 0}
    assert read_whole(getattr(queue_position, name).replace("HELD", "%(held0)s"), parameters) == set()


def test_a_table_that_is_read_whole_is_noticed(asked):
    sql, params = Annotation.objects.filter(note="x").query.sql_with_params()
    assert read_whole(sql, params) == {"annotation_annotation"}
