"""What researchers do is on record: once for each act, in the act's own transaction, and unchanged from then on."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, connections, transaction

from annotation.corpus.imports import records
from annotation.quality.services import gold_questions
from annotation.recruitment.services import enrolment
from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from annotation.workbench.services import assignments, exclusions
from core.accounts.models.users import User
from core.accounts.services import tokens
from core.api import idempotency
from core.api.idempotency import StoredResponse
from core.audit import log, queries
from core.audit.heads import read_heads
from core.audit.models import BEGINNING, Act
from core.audit.queries import compare
from core.errors import InputError
from tests.support.factories import DialogueFactory, ResearcherFactory, UserFactory

EXCEPTIONS = {
    # what records an act of its own, or is part of one that does
    "judging.assessment.services.rules.lock": "records rules.lock at the first look",
    "judging.assessment.services.rules.lock_rules": "records rules.lock at the first look",
    "judging.assessment.services.rules.resolve": "its changes are rules.set, its first look is rules.lock",
    "judging.assessment.services.assessment.queue": "asks a worker; the first look is rules.lock",
    # what somebody who annotates does themselves
    "annotation.workbench.services.annotations.submit": "an annotator hands labels in",
    "annotation.workbench.services.assignments.lease_next": "an annotator asks for the next item",
    "annotation.workbench.services.assignments.put_back": "an annotator gives an item back",
    "annotation.workbench.services.assignments.skip": "an annotator skips an item",
    "annotation.workbench.services.assignments.renew": "an annotator goes on with an item",
    "annotation.workbench.services.assignments.renew_all": "an annotator goes on with their items",
    "annotation.recruitment.services.completions.record": "an annotator comes to the end",
    "annotation.recruitment.services.consents.decide": "an annotator's own decision, with the text shown",
    "annotation.recruitment.services.demographics.answer": "an annotator's answers about themselves",
    "annotation.workbench.services.drafts.save": "an annotator's draft",
    "annotation.workbench.services.drafts.keep_late": "an annotator's answers that came late",
    "annotation.quality.services.qualification.conclude": "an annotator comes to the end of the qualification",
    "annotation.recruitment.services.enrolment.find_or_create_platform_account": "an annotator comes from a platform",
    "annotation.recruitment.services.enrolment.join": "an annotator joins by a link",
    # what keeps a result: a row of its own says who asked for it, and pages compute it on reading
    "annotation.agreement.services.agreement.load_or_compute_run": "a result",
    "annotation.benchmarks.services.versions.audit": "a result",
    "annotation.agreement.services.stored_difficulty.ask": "a result, left to a worker",
    "judging.assessment.services.agreement.load_or_compute": "a result",
    "judging.assessment.services.agreement.load_or_compute_unseen": "a result",
    "judging.assessment.services.assessment.load_newest": "a result, only read",
    "judging.assessment.services.deferred_agreement.ask": "a result, left to a worker",
    "simulation.results.services.measure_tables.table_5": "a result",
    "simulation.results.services.measures.ask": "a result, left to a worker",
    "judging.assessment.services.report.build_report": "a result",
    "judging.assessment.services.report.compute_page": "a result",
    "judging.assessment.services.report.describe_judges": "a result",
    "judging.assessment.services.runs.audit": "a result",
    "judging.assessment.services.runs.calibration": "a result",
    "judging.assessment.services.assessment.assess_now": "a result",
    "judging.assessment.services.assessment.assess_judge": "a result",
    "judging.assessment.services.assessment.assess_judges": "a result",
    # parts of other acts
    "annotation.workbench.services.annotations.decline": "an annotator's answers are no acts",
    "judging.runs.imports.formats.import_table": "a part of an import",
    "judging.runs.imports.mapped.load_mapped": "a part of an import",
    "core.audit.log.record": "writes an act",
    "core.audit.log.record_always": "writes an act",
    "annotation.studies.imports.labelled.add_items": "a part of an import",
    "annotation.benchmarks.services.filtering.add_all_items": "a part of making a study",
    "annotation.studies.imports.labelled.find_or_create_study": "a part of an import",
    "annotation.studies.imports.ratings.resolve": "a part of an import",
    "judging.runs.imports.judgments.find_or_create_judge": "a part of an import",
    "judging.runs.imports.personalens_output.load": "a part of an import",
    "judging.judges.services.judges.build_judge": "looks for what would be defined",
    "judging.judges.services.judges.find_latest": "looks for a judge",
    "judging.runs.services.panels.find_or_create_judge": "a part of combining a panel",
    "judging.assessment.services.follow_up_studies.make": "a part of making a study",
    "judging.assessment.services.follow_up_studies.like": "a part of making a study",
    "simulation.agents.services.find_or_create_agent": "a part of ordering something",
    "simulation.results.services.results.ask": "a result, left to a worker",
}
"""Services with `by=` that are no acts of researchers, and why."""


ROOMS_OF_VERBS = {"services", "imports", "exchange", "archives", "retention", "audit"}
"""Parts of the names of modules whose functions change something."""


def services() -> dict[str, Callable[..., object]]:
    """Every public function of a service module that is told by whom it is called."""
    found: dict[str, Callable[..., object]] = {}
    apps = [importlib.import_module(name) for name in ("annotation", "judging", "simulation", "config", "core")]
    names = [one.name for app in apps for one in pkgutil.walk_packages(app.__path__, f"{app.__name__}.")]
    for module_name in names:
        if not ROOMS_OF_VERBS & set(module_name.split(".")):
            continue
        module = importlib.import_module(module_name)
        for name, function in vars(module).items():
            if not inspect.isfunction(function) or function.__module__ != module_name or name.startswith("_"):
                continue
            by = inspect.signature(function).parameters.get("by")
            if by and by.kind is by.KEYWORD_ONLY and "User" in str(by.annotation):
                found[f"{module_name}.{name}"] = function
    return found


def test_every_service_with_by_is_an_act_or_is_known_not_to_be_one():
    there = services()
    assert len(there) > 100
    silent = {name for name, function in there.items() if not hasattr(function, "act")}
    assert silent == set(EXCEPTIONS)


def test_verbs_are_a_kind_and_what_was_done():
    for name, function in services().items():
        verb = getattr(function, "act", None)
        assert verb is None or (verb.count(".") == 1 and len(verb) <= 60), name


@pytest.fixture
def study(db: None, researcher: User) -> Study:
    DialogueFactory.create_batch(3, source="here")
    made = studies.create(by=researcher, name="Pilot", kind="dialogue", criteria=["naturalness_user"], overlap=2)
    samples.draw(by=researcher, study=made, filters={"source": "here"}, seed=3)
    return made


@pytest.fixture
def researcher(db: None) -> User:
    return ResearcherFactory(username="rosa")


def newest() -> Act:
    return Act.objects.order_by("-number")[0]


def test_an_act_says_who_did_what_to_what_and_what_came_of_it(study: Study, researcher: User):
    studies.open(by=researcher, study=study)
    row = newest()
    assert (row.who, row.verb, row.kind, row.key, row.name) == (researcher, "study.open", "study", study.pk, "pilot")
    assert (row.study_id, row.parsed_outcome, row.through) == (study.pk, 6, "other")
    drawn = Act.objects.get(verb="sample.draw")
    assert drawn.study_id == study.pk
    assert drawn.parsed_arguments["filters"] == {"source": ["here"]} or drawn.parsed_arguments["filters"] == {
        "source": "here"
    }
    assert drawn.parsed_arguments["seed"] == 3
    assert drawn.parsed_outcome["kind"] == "sample"


def test_only_the_outermost_act_is_written(study: Study, researcher: User):
    anna = UserFactory()
    assignments.add_annotators(by=researcher, study=study, annotators=[anna])
    before = Act.objects.count()
    exclusions.exclude(by=researcher, study=study, annotator=anna, reason="answers everything alike")  # frees slots too
    assert Act.objects.count() == before + 1
    assert newest().verb == "annotator.exclude"


def test_what_fails_or_is_rolled_back_leaves_none(study: Study, researcher: User):
    before = Act.objects.count()
    with pytest.raises(InputError):
        studies.close(by=researcher, study=study)  # it is a draft
    with transaction.atomic():
        studies.open(by=researcher, study=study)
        transaction.set_rollback(True)
    assert Act.objects.count() == before
    studies.open(by=researcher, study=study)
    assert Act.objects.count() == before + 1, "after a failure acts are written again"


def test_people_are_numbers_and_free_text_and_secrets_are_left_out(study: Study, researcher: User):
    anna = UserFactory(username="anna-maria", display_name="Anna Maria")
    assignments.add_annotators(by=researcher, study=study, annotators=[anna])
    exclusions.exclude(by=researcher, study=study, annotator=anna, reason="Anna Maria was ill")
    token, text = tokens.make(by=researcher, name="nightly", scopes=["read"])
    link = enrolment.create(by=researcher, study=study, max_uses=3, note="for Anna Maria")
    row = Act.objects.get(verb="annotator.exclude")
    assert (row.kind, row.key, row.name, row.study_id) == ("user", anna.pk, "", study.pk)
    kept = "\n".join(f"{one.name} {one.arguments} {one.outcome}" for one in Act.objects.all())
    for secret in ("anna-maria", "Anna Maria", "ill", text, token.digest, link.token, link.invitation.token_hash):
        assert secret not in kept, secret
    assert Act.objects.get(verb="study.add_annotators").parsed_arguments == {
        "annotators": [{"kind": "user", "id": anna.pk}]
    }
    assert Act.objects.get(verb="token.make").parsed_arguments == {"days": 90, "scopes": ["read"], "user": None}


def test_long_texts_are_cut_and_long_lists_are_counted(researcher: User):
    assert log.to_audit_json("x" * 5000) == "x" * 200 + "…"
    assert log.to_audit_json(list(range(5000))) == {"n": 5000}
    assert log.to_audit_json({"nan": float("nan"), "path": Path("/srv/labels.csv")}) == {
        "nan": None,
        "path": "labels.csv",
    }
    assert log.to_audit_json([[[[["deep"]]]]]) == [[[["…"]]]]
    assert log.to_audit_json(object()) == "object"


def test_an_unknown_argument_is_noticed_when_the_code_is_loaded():
    with pytest.raises(TypeError, match="has no argument wrong"):
        log.audited("study.open", on="wrong")(studies.open)


def test_a_service_that_prepares_is_written_with_its_own_arguments_and_only_if_it_changed_something(
    study: Study, researcher: User, tmp_path: Path
):
    path = tmp_path / "known.csv"
    dialogue = DialogueFactory(source="elsewhere", external_id="k1")
    value = study.criteria.get().values[0]
    path.write_text(f"item_id,criterion,value\nelsewhere:{dialogue.external_id},naturalness_user,{value}\n")
    gold_questions.add_file(by=researcher, study=study, purpose="check", path=path, name="known.csv")
    assert newest().verb == "known_items.add"
    assert newest().parsed_arguments == {"name": "known.csv", "number": 1, "purpose": "check"}
    assert newest().parsed_outcome == {"n": 1}


def test_a_command_says_so_with_the_account_of_the_machine(researcher: User, tmp_path: Path):
    call_command("study", "By command", kind="pair", criteria=["preference"])
    row = newest()
    assert (row.who, row.verb, row.through, row.operator) == (None, "study.create", "command", log.operator())


def test_a_page_says_so_with_the_id_of_its_request(study: Study, researcher: User, client):
    client.force_login(researcher)
    answer = client.post(f"/studies/{study.slug}/open/")
    assert (newest().through, newest().who) == ("page", researcher)
    assert newest().request_id == answer["X-Request-ID"]
    client.post(f"/api/v1/studies/{study.slug}/close", content_type="application/json")
    assert (newest().through, newest().verb) == ("api", "study.close")


def test_an_import_counts_what_came_in(researcher: User, tmp_path: Path):
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({"id": "t1", "domain": "Books", "description": "Find one"}) + "\n")
    records.load(by=researcher, kind="tasks", file=records.InputFile.from_path(path), source="test")
    assert newest().parsed_arguments["file"] == "tasks.jsonl"
    assert newest().parsed_outcome["created"] == {"tasks": 1}


class TestChain:
    def test_each_act_follows_the_one_before(self, study: Study):
        rows = list(Act.objects.order_by("number"))
        assert [row.number for row in rows] == list(range(1, len(rows) + 1))
        assert rows[0].previous == BEGINNING
        assert [row.previous for row in rows[1:]] == [row.digest for row in rows[:-1]]
        assert queries.find_break() is None
        assert queries.head() == (rows[-1].number, rows[-1].digest)

    def test_what_is_read_from_the_database_has_the_same_hash(self, study: Study):
        for row in Act.objects.all():
            assert row.compute_digest() == row.digest

    @pytest.mark.parametrize("field", ["verb", "name", "arguments", "outcome", "operator", "request_id"])
    def test_a_changed_act_is_named(self, unguarded: None, study: Study, field: str):
        Act.objects.filter(number=1).update(**{field: '"forged"'})
        assert queries.find_break() == (1, "event 1 was changed")

    def test_another_person_another_time_another_study(self, unguarded: None, study: Study, researcher: User):
        row = Act.objects.get(number=2)
        for change in ({"who": None}, {"study_id": 99}, {"at": row.at.replace(year=2001)}, {"key": 7}):
            with transaction.atomic():
                Act.objects.filter(number=2).update(**change)
                assert queries.find_break() == (2, "event 2 was changed")
                transaction.set_rollback(True)

    def test_a_missing_act_is_named(self, unguarded: None, study: Study, researcher: User):
        studies.open(by=researcher, study=study)
        Act.objects.filter(number=2).delete()
        assert queries.find_break() == (3, "event 2 is missing")

    def test_an_act_that_was_put_in_is_named(self, unguarded: None, study: Study, researcher: User):
        last = newest()
        made = Act(number=last.number + 1, at=last.at, verb="study.open", through="page", previous="f" * 64)
        made.digest = made.compute_digest()
        made.save(force_insert=True)
        assert queries.find_break() == (made.number, f"event {made.number} does not follow the event before it")

    def test_check_invariants_names_it(self, unguarded: None, study: Study, capsys):
        Act.objects.filter(number=2).update(verb="study.close")
        with pytest.raises(SystemExit):
            call_command("check_invariants")
        assert "event 2 was changed" in capsys.readouterr().out


class TestAppendOnly:
    """By triggers, which the fixture `unguarded` takes away."""

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE annotation_act SET verb = 'study.close'",
            "UPDATE annotation_act SET who_id = NULL WHERE number = 1",
            "DELETE FROM annotation_act",
            "DELETE FROM annotation_act WHERE number = 1",
        ],
    )
    def test_the_database_refuses_to_change_and_delete(self, study: Study, statement: str):
        before = list(Act.objects.values_list("number", "digest"))
        with (
            pytest.raises(DatabaseError, match="never changed or deleted"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
        assert list(Act.objects.values_list("number", "digest")) == before

    def test_nor_by_the_way_of_the_orm(self, study: Study, researcher: User):
        with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
            newest().save()
        with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
            newest().delete()
        studies.open(by=researcher, study=study)
        assert newest().verb == "study.open", "new acts are written"

    def test_replacing_is_refused_too(self, study: Study):
        into = "INSERT OR REPLACE INTO" if connection.vendor == "sqlite" else "INSERT INTO"
        instead = "" if connection.vendor == "sqlite" else "ON CONFLICT (number) DO UPDATE SET verb = excluded.verb"
        names = ", ".join(field.column for field in Act._meta.concrete_fields)
        values = names.replace("verb", "'study.close'")
        with (
            pytest.raises(DatabaseError, match="never changed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"{into} annotation_act ({names}) SELECT {values} FROM annotation_act WHERE true {instead}")

    @pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no TRUNCATE")
    def test_emptying_is_refused_too(self, study: Study):
        with (
            pytest.raises(DatabaseError, match="never changed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("TRUNCATE annotation_act")

    def test_an_account_can_go_though_the_log_names_it(self, study: Study, researcher: User):
        number = researcher.pk
        Study.objects.update(created_by=None)
        researcher.delete()
        assert set(Act.objects.values_list("who_id", flat=True)) == {number}

    @pytest.mark.skipif("connection.vendor != 'sqlite'", reason="the copy of the migrated database is SQLite's")
    def test_a_database_that_migrate_left_refuses(self, migrated, tmp_path: Path, db: None):
        migrated(tmp_path)
        row = "number, at, verb, kind, name, operator, through, request_id, arguments, outcome, previous, digest"
        row += ", digest_key_id"
        values = ", ".join(f"'{text}'" for text in ("k", "n", "o", "page", "r", "{}", "null", "p", "d", ""))
        with closing(sqlite3.connect(tmp_path / "concord.sqlite3")) as site:
            site.execute(f"INSERT INTO annotation_act ({row}) VALUES (1, '2026-01-01', 'a.b', {values})")
            for statement in ("UPDATE annotation_act SET verb = 'c.d'", "DELETE FROM annotation_act"):
                with pytest.raises(sqlite3.IntegrityError, match="never changed or deleted"):
                    site.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_acts_at_the_same_moment_make_one_chain(researcher: User):
    """Eight at once, five each: numbers without gaps, nobody's act lost, no fork."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    made = [studies.create(by=researcher, name=f"Study {n}", kind="pair", criteria=["preference"]) for n in range(8)]
    begin = Barrier(8)

    def work(study: Study) -> None:
        try:
            begin.wait(timeout=60)
            for n in range(5):
                gold_questions.set_rules(by=researcher, study=study, item_limit=n + 1)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, made))
    assert queries.find_break() is None
    assert queries.head()[0] == Act.objects.count() == 8 + 40
    heads = list(read_heads())
    assert sorted(one.number for one in heads) == list(range(1, 49)), "each is written down once, whole"
    assert compare(heads).lost == []
    assert Act.objects.filter(verb="queue.set").values("study_id").distinct().count() == 8


class TestTogether:
    """Acts of one transaction: written at its end, in their order."""

    @pytest.fixture(autouse=True)
    def is_open(self, study: Study) -> None:
        Study.objects.update(state="open")

    def test_they_follow_one_another(self, study: Study, researcher: User):
        before = queries.head()[0]
        with log.audit_batch():
            gold_questions.set_rules(by=researcher, study=study, item_limit=5)
            studies.close(by=researcher, study=study)
            assert queries.head()[0] == before, "not yet"
        rows = Act.objects.filter(number__gt=before).order_by("number")
        assert [(one.number - before, one.verb) for one in rows] == [(1, "queue.set"), (2, "study.close")]
        assert queries.find_break() is None

    def twice(self, act: Callable[[int], object]) -> None:
        """The second time it is refused."""
        with log.audit_batch():
            act(0)
            act(1)

    def test_what_is_rolled_back_leaves_none_of_both(self, study: Study, researcher: User):
        before = queries.head()[0]
        with pytest.raises(InputError):
            self.twice(lambda n: gold_questions.set_rules(by=researcher, study=study, item_limit=1 - n))
        assert queries.head()[0] == before
        gold_questions.set_rules(by=researcher, study=study, item_limit=6)
        assert queries.head()[0] == before + 1

    def test_a_part_that_is_rolled_back_leaves_none_of_its_own(self, study: Study, researcher: User):
        before = queries.head()[0]
        with log.audit_batch():
            gold_questions.set_rules(by=researcher, study=study, item_limit=5)
            with pytest.raises(InputError):
                self.twice(lambda _: studies.close(by=researcher, study=study))
        assert [one.verb for one in Act.objects.filter(number__gt=before)] == ["queue.set"]
        study.refresh_from_db()
        assert (study.state, study.item_limit) == ("open", 5)


HELD = {
    "core/jobs/leases.py": "a message goes out once its row is committed; nothing that people decide",
    "core/read_snapshot.py": "only reads",
    "config/archives/reading.py": "within one act, as in a service",
    "config/backups/reading.py": "its acts are together at its end",
    "config/management/commands/migrate.py": "a migration and its record, while no site is at work",
}
"""Modules beyond services that begin a transaction by themselves, with the reason."""


ALLOWED = {"services", "imports", "migrations", "models", "idempotency.py", "log.py"}


def test_whoever_is_around_several_acts_uses_together():
    """An act that is written in the middle of a transaction holds the log until its end."""
    root = Path(importlib.import_module("annotation").__file__).parents[1]
    found = {
        str(path.relative_to(root))
        for app in ("annotation", "judging", "simulation", "config", "core")
        for path in (root / app).rglob("*.py")
        if not {"services", "imports", "migrations", "models", "idempotency.py", "log.py"} & set(path.parts)
        and "transaction.atomic" in path.read_text()
    }
    assert found == set(HELD)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
def test_two_transactions_of_several_acts_do_not_wait_for_each_other(researcher: User):
    """One has acted and needs a row of the other, who holds it and acts: neither may hold the log by then."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    mine, shared, other = (
        studies.create(by=researcher, name=f"Study {n}", kind="pair", criteria=["preference"]) for n in range(3)
    )
    met = Barrier(2, timeout=60)

    def acts_then_needs_the_row() -> None:
        try:
            idempotency.run_once(by=researcher, key="k", request_hash="h", act=first)
        finally:
            connections.close_all()

    def first() -> StoredResponse:
        gold_questions.set_rules(by=researcher, study=mine, item_limit=1)
        met.wait()
        gold_questions.set_rules(by=researcher, study=shared, item_limit=1)
        return StoredResponse(200, {})

    def holds_the_row_then_acts() -> None:
        try:
            with log.audit_batch():
                Study.objects.select_for_update().get(pk=shared.pk)
                met.wait()
                gold_questions.set_rules(by=researcher, study=other, item_limit=1)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(acts_then_needs_the_row), pool.submit(holds_the_row_then_acts)]:
            done.result(timeout=60)
    assert Act.objects.filter(verb="queue.set").count() == 3
    assert queries.find_break() is None
