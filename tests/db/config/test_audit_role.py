"""The set-up of docs/deploy.md in which the site's own database role can only add to the audit log."""

from __future__ import annotations

import re

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from annotation.studies.services import samples, studies
from config import invariants
from core.audit import queries as audit_queries
from core.audit.models import Act
from tests.support.factories import DialogueFactory, ResearcherFactory
from tests.support.paths import ROOT

DOCS = ROOT / "docs" / "deploy.md"
MARK = "<!-- audit role -->"

pytestmark = pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="SQLite has no roles: whoever may write to its file may do anything"
)


def documented() -> str:
    """The SQL of the documentation, for this database."""
    found = re.search(rf"{MARK}\n```sql\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert found, f"no SQL behind {MARK}"
    return found[1].replace("DATABASE concord ", f'DATABASE "{connection.settings_dict["NAME"]}" ')


@pytest.fixture
def role(db: None) -> None:
    """The test goes on as the role `concord`; all of this is rolled back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("the tests' own role may not make roles")
        cursor.execute(documented())
        cursor.execute("SET LOCAL ROLE concord")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE annotation_act SET verb = 'study.close'",
        "DELETE FROM annotation_act",
        "TRUNCATE annotation_act",
        "ALTER TABLE annotation_act DISABLE TRIGGER act_not_changed",
        "ALTER TABLE annotation_act DISABLE TRIGGER ALL",
        "DROP TRIGGER act_not_changed ON annotation_act",
        "DROP TABLE annotation_act",
        "ALTER TABLE annotation_act RENAME TO other",
        "CREATE TRIGGER other BEFORE INSERT ON annotation_act EXECUTE FUNCTION annotation_act_refuse()",
        "CREATE RULE other AS ON INSERT TO annotation_act DO INSTEAD NOTHING",
        "CREATE OR REPLACE FUNCTION annotation_act_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN RETURN NEW; END$$",
        "INSERT INTO annotation_act SELECT * FROM annotation_act ON CONFLICT (number) DO UPDATE SET verb = 'a.b'",
        "SET LOCAL session_replication_role = replica",
        "DELETE FROM django_migrations",
    ],
)
def test_the_role_cannot_change_the_log_or_what_guards_it(role: None, statement: str):
    before = list(Act.objects.values())
    refused = pytest.raises(DatabaseError, match=r"permission denied|must be owner")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert list(Act.objects.values()) == before


def test_the_site_goes_on_and_its_acts_are_on_record(role: None, client):
    rosa = ResearcherFactory()
    DialogueFactory.create_batch(2, source="here")
    study = studies.create(by=rosa, name="Pilot", kind="dialogue", criteria=["naturalness_user"], overlap=1)
    samples.draw(by=rosa, study=study, filters={"source": "here"}, seed=3)
    studies.open(by=rosa, study=study)
    client.force_login(rosa)
    client.post(f"/studies/{study.slug}/close/")
    assert client.get(f"/studies/{study.slug}/labels.csv").status_code == 200
    study.delete()
    call_command("migrate", verbosity=0)
    verbs = ["study.create", "sample.draw", "study.open", "study.close", "export.labels"]
    assert list(Act.objects.order_by("number").values_list("verb", flat=True)) == verbs
    assert audit_queries.find_break() is None
    assert invariants.findings() == []
