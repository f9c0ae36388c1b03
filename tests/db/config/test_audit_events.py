"""Sign-ins, rights, second factors, exports and the administration are on record, by number and without secrets."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import Group, Permission
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.recruitment.services import enrolment
from core.accounts.models.users import User
from core.accounts.services import projects
from core.audit import queries as audit_queries
from core.audit.models import Act
from tests.support.factories import ProjectFactory, ResearcherFactory, StudyFactory, UserFactory
from tests.support.second_factors import code_of

pytestmark = pytest.mark.usefixtures("one_moment")

PASSWORD = "right-one-7"


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    cache.clear()


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory(username="bob", password=PASSWORD)


@pytest.fixture
def root(db: None, client: Client) -> User:
    made = UserFactory(username="root", is_superuser=True, is_staff=True, password=PASSWORD)
    client.force_login(made)
    return made


def told() -> list[tuple[str, int | None, int | None, dict[str, Any]]]:
    """Verb, who, on which account or row, with which arguments; oldest first."""
    return [(one.verb, one.who_id, one.key, one.parsed_arguments) for one in Act.objects.order_by("number")]


def sign_in(client: Client, name: str = "bob", password: str = PASSWORD) -> Any:
    return client.post(reverse("login"), {"login": name, "password": password})


class TestSigningIn:
    def test_in_and_out(self, client: Client, bob: User):
        assert sign_in(client).status_code == 302
        client.post(reverse("logout"))
        assert told() == [("account.sign_in", bob.pk, bob.pk, {}), ("account.sign_out", bob.pk, bob.pk, {})]
        assert {one.through for one in Act.objects.all()} == {"page"}
        assert audit_queries.find_break() is None

    def test_a_wrong_password_leaves_the_account_and_never_the_password(self, client: Client, bob: User):
        assert sign_in(client, password="my-other-password").status_code == 200
        assert told() == [("account.sign_in_refused", None, bob.pk, {"step": "password"})]
        assert "my-other" not in json.dumps([one.to_json() for one in Act.objects.all()])

    def test_a_name_that_nobody_has_is_not_kept(self, client: Client, bob: User):
        """It may be a password that went into the wrong field."""
        sign_in(client, name="hunter2-my-secret", password="bob")
        assert told() == [("account.sign_in_refused", None, None, {"step": "password"})]
        row = Act.objects.get()
        assert (row.kind, row.name, row.outcome) == ("", "", "null")

    def test_through_the_administration_too(self, client: Client, root: User):
        """Wherever its own form is: by whichever way somebody comes in, Django says so."""
        client.logout()
        client.login(username="root", password="wrong")
        assert told()[-1] == ("account.sign_in_refused", None, root.pk, {"step": "password"})

    def test_a_second_factor_that_is_wrong_then_right(self, client: Client, bob: User):
        secret = totp.generate_totp_secret()
        totp.TOTP.activate(bob, secret)
        sign_in(client)
        assert told() == [], "not in yet"
        client.post(reverse("mfa_authenticate"), {"code": "000000"})
        client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
        assert [verb for verb, *_ in told()] == ["account.sign_in_refused", "account.sign_in"]
        assert told()[0] == ("account.sign_in_refused", None, bob.pk, {"step": "second factor"})

    def test_by_an_invitation(self, client: Client, db: None):
        link = enrolment.create(by=None, study=StudyFactory(state="open"))
        word = "a-long-enough-one"
        client.post(reverse("join", args=[link.token]), {"username": "dora", "password1": word, "password2": word})
        dora = User.objects.get(username="dora")
        assert told()[-1] == ("account.sign_in", dora.pk, dora.pk, {})

    def test_it_costs_few_statements(self, client: Client, bob: User, django_assert_max_num_queries):
        """Sixty people come at once: an act must not add a look at the log or at the account's rights."""
        sign_in(Client())
        with django_assert_max_num_queries(16):
            sign_in(client)


class TestSecondFactors:
    def test_added_and_taken_away(self, client: Client, bob: User, django_capture_on_commit_callbacks):
        sign_in(client)
        client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
        client.get(reverse("mfa_activate_totp"))
        secret = client.session["mfa.totp.secret"]
        with django_capture_on_commit_callbacks(execute=True):
            client.post(reverse("mfa_activate_totp"), {"code": code_of(secret)})
        client.post(reverse("mfa_deactivate_totp"))
        kept = [one for one in told() if one[0].startswith("second_factor.")]
        assert ("second_factor.add", bob.pk, bob.pk, {"factor": "totp"}) in kept
        assert ("second_factor.remove", bob.pk, bob.pk, {"factor": "totp"}) in kept
        assert secret not in json.dumps([one.to_json() for one in Act.objects.all()])


class TestRights:
    def test_a_right_that_is_given_and_taken(self, bob: User):
        bob.is_superuser = True
        bob.save()
        bob.is_superuser, bob.is_active = False, False
        bob.save(update_fields=["is_superuser"])
        assert told() == [
            ("account.change", None, bob.pk, {"is_superuser": [False, True]}),
            ("account.change", None, bob.pk, {"is_superuser": [True, False]}),
        ]

    def test_an_account_that_begins_with_rights(self, db: None):
        call_command("createsuperuser", "--noinput", username="root", email="root@example.org")
        root = User.objects.get()
        rights = {"is_staff": [False, True], "is_superuser": [False, True]}
        assert told() == [("account.change", None, root.pk, rights)]

    def test_other_columns_are_no_act(self, bob: User, django_assert_num_queries):
        bob.display_name = "Bob"
        bob.save()
        with django_assert_num_queries(1):
            bob.save(update_fields=["last_login"])
        assert told() == []

    def test_a_new_password_and_not_a_hash_that_is_renewed(self, bob: User, client: Client, settings):
        sign_in(client)
        new = "another-long-one-9"
        sent = {"oldpassword": PASSWORD, "password1": new, "password2": new}
        client.post(reverse("account_change_password"), sent)
        assert told()[-1] == ("account.change", bob.pk, bob.pk, {"new_password": True})
        n = Act.objects.count()
        settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher", *settings.PASSWORD_HASHERS]
        assert User.objects.get().check_password(new)
        assert User.objects.get().password.startswith("scrypt")
        assert Act.objects.count() == n

    def test_what_is_rolled_back_leaves_none(self, bob: User):
        from django.db import transaction

        with transaction.atomic():
            bob.is_staff = True
            bob.save()
            transaction.set_rollback(True)
        assert told() == []

    def test_groups_and_permissions(self, bob: User):
        group, permission = Group.objects.create(name="g"), Permission.objects.order_by("pk")[0]
        bob.groups.add(group)
        group.permissions.add(permission)
        bob.user_permissions.add(permission)
        bob.user_permissions.clear()
        group.user_set.remove(bob)
        assert [(verb, key, asked) for verb, _, key, asked in told()] == [
            ("account.permit", bob.pk, {"group": {"added": [group.pk]}}),
            ("account.permit", group.pk, {"permission": {"added": [permission.pk]}}),
            ("account.permit", bob.pk, {"permission": {"added": [permission.pk]}}),
            ("account.permit", bob.pk, {"permission": {"cleared": []}}),
            ("account.permit", group.pk, {"user": {"removed": [bob.pk]}}),
        ]

    def test_roles_in_projects(self, root: User):
        olga, project = ResearcherFactory(), ProjectFactory()
        projects.join(by=root, project=project, user=olga, role="owner")
        projects.join(by=root, project=project, user=root, role="owner")
        projects.leave(by=root, project=project, user=olga)
        assert [(verb, asked["user"]["id"], asked.get("role")) for verb, _, _, asked in told()] == [
            ("project.join", olga.pk, "owner"),
            ("project.join", root.pk, "owner"),
            ("project.leave", olga.pk, None),
        ]


class TestAdministration:
    def change(self, client: Client, user: User, **fields: str) -> None:
        page = client.get(reverse("admin:annotation_user_change", args=[user.pk]))
        form = page.context["adminform"].form
        sent = {name: form[name].value() for name in form.fields if name not in {"password", "groups"}}
        times = {f"{name}_{n}": "" for name in ("last_login", "date_joined") for n in (0, 1)}
        times |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
        kept = {name: value for name, value in sent.items() if value not in (None, False, [], "")}
        answer = client.post(page.wsgi_request.path, {**kept, **times, **fields})
        assert answer.status_code == 302, answer.context["errors"]

    def test_a_superuser_made_there(self, client: Client, root: User, bob: User):
        self.change(client, bob, is_superuser="on")
        (first, second) = told()
        assert first == ("account.change", root.pk, bob.pk, {"is_superuser": [False, True]})
        assert second[:3] == ("admin.change", root.pk, bob.pk)
        assert "Superuser status" in second[3]["fields"]
        assert audit_queries.find_break() is None

    def test_a_password_set_there(self, client: Client, root: User, bob: User):
        new = "another-long-one-9"
        sent = {"password1": new, "password2": new, "usable_password": "true"}
        client.post(reverse("admin:auth_user_password_change", args=[bob.pk]), sent)
        assert told()[0] == ("account.change", root.pk, bob.pk, {"new_password": True})
        assert [verb for verb, *_ in told()] == ["account.change", "admin.change"]
        assert new not in json.dumps([one.to_json() for one in Act.objects.all()])

    def test_several_accounts_deleted_at_once(self, client: Client, root: User):
        gone = UserFactory.create_batch(2)
        sent = {"action": "delete_selected", "_selected_action": [one.pk for one in gone], "post": "yes"}
        client.post(reverse("admin:annotation_user_changelist"), sent)
        assert not User.objects.filter(pk__in=[one.pk for one in gone]).exists()
        assert {(verb, key) for verb, _, key, _ in told()} == {("admin.delete", one.pk) for one in gone}
        assert "person" not in json.dumps([one.to_json() for one in Act.objects.all()])

    def test_what_other_packages_keep_there(self, client: Client, root: User):
        client.post(reverse("admin:auth_group_add"), {"name": "Curators"})
        assert [(verb, asked) for verb, _, _, asked in told()] == [("admin.add", {"fields": []})]

    def test_a_form_with_a_mistake_leaves_none(self, client: Client, root: User):
        assert client.post(reverse("admin:auth_group_add"), {"name": ""}).status_code == 200
        assert told() == []


NOT_OF_PEOPLE = {
    "benchmark_audit_download": "a benchmark's cases",
    "datasheet_download": "a benchmark's sheet",
    "release_download": "a benchmark's release, which names no annotator",
    "graded_download": "pairs",
    "rubric_download": "criteria, which name nobody",
    "mapping_download": "names of columns",
    "gold_download": "items with their right answers",
    "measures_download": "measures of dialogues",
    "results_download": "an experiment's measures",
    "evaluation_download": "a model's results",
    "run_scores_download": "a judge's scores",
    "agreement_download": "figures; annotators are named as raters, without answers",
    "tiers_download": "tiers of items",
    "tiers_predicted_download": "predicted tiers of items, figures of judges",
    "progress_download": "counts; annotators are named with theirs, without answers",
    "progress_plot": "counts; annotators are named with theirs, without answers",
    "calibration_download": "figures of a judge",
    "report_download": "figures; annotators are named as raters, without answers",
    "certificate_download": "figures of a judge",
    "judge_verdict_download": "figures of a judge",
    "judge_plot": "figures of a judge",
    "api_study_report": "figures; annotators are named as raters, without answers",
    "script_texts": "texts of scripts in a language",
    "api_benchmark_folder": "a benchmark's release, which names no annotator",
}
"""Files that the site gives out without an act, and what is in them."""


def files() -> dict[str, Any]:
    """The views of all addresses that end like a file, by their names."""

    def walk(patterns: list[URLPattern | URLResolver]) -> None:
        for one in patterns:
            if isinstance(one, URLResolver):
                if one.app_name != "admin":
                    walk(one.url_patterns)
            elif "." in str(one.pattern).rpartition("/")[2].replace("str:", "") and one.name:
                found[one.name] = one.callback

    found: dict[str, Any] = {}
    walk(get_resolver().url_patterns)
    return found


def is_on_record(view: Any) -> bool:
    return hasattr(getattr(view, "cls", view), "audited_export") or hasattr(
        getattr(getattr(view, "cls", None), "get", None), "audited_export"
    )


class TestExports:
    def test_every_file_is_on_record_or_known_not_to_be_of_people(self):
        there = files()
        assert len(there) > 20
        assert {name for name, view in there.items() if not is_on_record(view)} == set(NOT_OF_PEOPLE)

    @pytest.mark.parametrize(
        ("address", "verb", "asked"),
        [
            ("/studies/pilot/labels.csv", "export.labels", {"format": "csv"}),
            ("/api/v1/studies/pilot/labels.csv", "export.labels", {"form": "csv"}),
            ("/api/v1/studies/pilot/annotations", "export.labels", {}),
            ("/studies/pilot/files/argilla.zip", "export.labels", {"tool": "argilla"}),
            ("/api/v1/studies/pilot/exports/argilla.zip", "export.labels", {"tool": "argilla"}),
            ("/studies/pilot/participants.json", "export.participants", {"format": "json"}),
            ("/api/v1/studies/pilot/participants", "export.participants", {}),
            ("/studies/pilot/annotators.json", "export.annotators", {}),
            ("/studies/pilot/checks.csv", "export.annotators", {"format": "csv"}),
            ("/api/v1/studies/pilot/checks", "export.annotators", {}),
            ("/studies/pilot/archive.zip", "export.archive", {}),
            ("/api/v1/studies/pilot/archive.zip", "export.archive", {}),
            ("/acts.csv", "export.acts", {}),
        ],
    )
    def test_a_download(self, client: Client, db: None, address: str, verb: str, asked: dict[str, str]):
        rosa = ResearcherFactory()
        study = StudyFactory(slug="pilot", kind="dialogue", project=rosa.memberships.get().project)
        client.force_login(rosa)
        answer = client.get(address)
        assert answer.status_code == 200
        assert answer.getvalue()
        row = Act.objects.get()
        assert (row.verb, row.who, row.parsed_arguments) == (verb, rosa, asked)
        if "pilot" in address:
            assert (row.study_id, row.project_id) == (study.pk, study.project_id)

    def test_what_is_not_given_out_leaves_none(self, client: Client, db: None):
        StudyFactory(slug="pilot")
        client.force_login(ResearcherFactory())
        assert client.get("/studies/pilot/labels.xyz").status_code == 404
        assert client.get("/studies/nothing/labels.csv").status_code == 404
        client.head("/studies/pilot/labels.csv")
        client.force_login(UserFactory())
        assert client.get("/studies/pilot/labels.csv").status_code == 403
        assert told() == []

    def test_commands(self, db: None, tmp_path, capsys):
        study = StudyFactory(name="Pilot", kind="dialogue")
        run: Callable[..., None] = call_command
        run("export", study="Pilot", format="csv", output=tmp_path / "labels.csv", stdout=io.StringIO())
        run("participants", study="Pilot", demographics=True, stdout=io.StringIO())
        run("quality", study="Pilot", stdout=io.StringIO())
        run("archive_study", study="Pilot", output=tmp_path / "pilot.zip", stdout=io.StringIO())
        run("backup", output=tmp_path / "site.zip", stdout=io.StringIO())
        rows = list(Act.objects.order_by("number"))
        assert [(one.verb, one.parsed_arguments) for one in rows] == [
            ("export.labels", {"format": "csv", "output": "labels.csv"}),
            ("export.participants", {"demographics": True}),
            ("export.annotators", {}),
            ("export.archive", {"output": "pilot.zip"}),
            ("export.backup", {"output": "site.zip"}),
        ]
        assert [one.study_id for one in rows] == [study.pk] * 4 + [None]
        assert {one.through for one in rows} == {"command"}
        assert all(one.operator for one in rows)


def test_the_page_offers_the_new_verbs_and_who_may_see_them(client: Client, root: User, bob: User):
    sign_in(Client())
    sign_in(Client(), password="wrong")
    page = client.get("/acts/", {"verb": "account"})
    assert [row.verb for row, _ in page.context["rows"]] == ["account.sign_in_refused", "account.sign_in"]
    assert [row["verb"] for row in client.get("/api/v1/acts?verb=account.sign_in").json()["results"]] == [
        "account.sign_in"
    ]
    rosa = ResearcherFactory()
    client.force_login(rosa)
    assert [row.verb for row, _ in client.get("/acts/").context["rows"]] == [], "of others' sign-ins nothing"
