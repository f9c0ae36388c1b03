"""Projects, roles and where new things go."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from core.accounts import permissions
from core.accounts.models.projects import Membership, Project, choose_project
from core.accounts.models.users import User
from core.accounts.services import projects
from core.errors import InputError
from judging.judges.models import Judge
from judging.judges.services import judges
from judging.runs.services import runs
from tests.support.factories import (
    JudgeFactory,
    MembershipFactory,
    ProjectFactory,
    ResearcherFactory,
    StudyFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


def role_of(user, project):
    found = Membership.objects.filter(user=user, project=project).first()
    return found and found.role


def test_the_first_researcher_of_a_site_owns_its_project_and_the_next_ones_research_in_it():
    rosa, ben, anna = ResearcherFactory(), ResearcherFactory(), UserFactory()
    project = Project.objects.get()
    assert project.slug == "default"
    assert (role_of(rosa, project), role_of(ben, project), role_of(anna, project)) == ("owner", "researcher", None)
    anna.is_researcher = True
    anna.save()
    assert role_of(anna, project) == "researcher"


def test_who_was_taken_out_is_not_put_back_by_a_later_save():
    rosa, ben = ResearcherFactory(), ResearcherFactory()
    projects.leave(by=rosa, project=Project.objects.get(), user=ben)
    ben.display_name = "Ben"
    ben.save()
    assert not ben.memberships.exists()


def test_with_several_projects_a_new_researcher_waits_for_an_owner():
    ProjectFactory()
    rosa = ResearcherFactory()
    assert not rosa.memberships.exists()
    with pytest.raises(InputError, match="You research in no project") as refused:
        studies.create(by=rosa, name="Mine", kind="pair", criteria=["preference"])
    assert refused.value.field == "project"


def test_new_things_go_to_the_only_project_and_then_to_the_chosen_one():
    rosa = ResearcherFactory()
    first = Project.objects.get()
    assert studies.create(by=rosa, name="One", kind="pair", criteria=["preference"]).project == first
    second = projects.make(by=None, name="Second group", owner=rosa)
    assert (second.slug, rosa.working_in) == ("second-group", first)
    assert studies.create(by=rosa, name="Two", kind="pair", criteria=["preference"]).project == first
    projects.choose(by=rosa, project=second)
    assert studies.create(by=rosa, name="Three", kind="pair", criteria=["preference"]).project == second
    assert judges.define(by=rosa, name="J", provider="baseline").project == second


def test_a_command_says_the_project_where_there_are_several(capsys):
    other = ProjectFactory(slug="other", name="Other")
    Project.objects.get_or_create(slug="default", defaults={"name": "Default"})
    with pytest.raises(CommandError, match="There are several projects"):
        call_command("study", "S", "--kind", "pair", "--criteria", "preference")
    assert not Study.objects.exists()
    call_command("study", "S", "--kind", "pair", "--criteria", "preference", "--project", "other")
    assert Study.objects.get().project == other
    with pytest.raises(CommandError, match="There is no project 'nowhere'") as refused:
        call_command("study", "T", "--kind", "pair", "--criteria", "preference", "--project", "nowhere")
    assert refused.value.returncode == 2


def test_a_new_row_goes_where_it_is_told_and_is_refused_where_nothing_tells():
    project = ProjectFactory()
    assert choose_project(None, project) == project
    with pytest.raises(InputError, match="several"):
        choose_project(None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Study.objects.create(name="Nowhere", slug="nowhere", kind="pair")


def test_a_judge_of_a_study_is_made_in_the_studys_project(capsys):
    study = StudyFactory(project=ProjectFactory(slug="other"), kind="pair")
    assert runs.plan  # the command checks the plan, and says that there are no items; the judge is the study's by then
    with pytest.raises(CommandError):
        call_command("judge", study.slug, "--judge", "theirs", "--provider", "baseline", "--no-wait")
    assert {judge.project for judge in Judge.objects.all()} <= {study.project}
    ProjectFactory(slug="third")
    for command in (("judge", study.slug), ("probe", "--study", study.slug)):
        with pytest.raises(CommandError, match="The study is of another project") as refused:
            call_command(*command, "--judge", "theirs", "--project", "third")
        assert refused.value.returncode == 2


def test_a_judge_of_another_project_rates_nothing_here():
    study = StudyFactory(kind="pair")
    elsewhere = JudgeFactory(project=ProjectFactory(), name="Elsewhere")
    with pytest.raises(InputError, match="no such judge in the project of the study") as refused:
        runs.plan(study=study, judge=elsewhere)
    assert "Elsewhere" not in refused.value.message


def test_a_taken_name_says_nothing_but_that():
    rosa = ResearcherFactory()
    JudgeFactory(project=ProjectFactory(name="Secret"), name="Mine", model="secret-model")
    with pytest.raises(InputError) as refused:
        judges.define(by=rosa, name="Mine", provider="baseline")
    assert (refused.value.message, refused.value.field) == ("The name 'Mine' is taken.", "name")
    StudyFactory(project=ProjectFactory(), name="Theirs", kind="pair")
    with pytest.raises(InputError, match="This name is taken"):
        permissions.unless_taken(rosa, Study.objects.get(name="Theirs"))
    assert permissions.unless_taken(None, Study.objects.get(name="Theirs"))


def test_the_last_owner_stays():
    rosa, ben = ResearcherFactory(), ResearcherFactory()
    project = Project.objects.get()
    with pytest.raises(InputError, match="keeps an owner"):
        projects.leave(by=rosa, project=project, user=rosa)
    with pytest.raises(InputError, match="keeps an owner"):
        projects.join(by=rosa, project=project, user=rosa, role="researcher")
    projects.join(by=rosa, project=project, user=ben, role="owner")
    projects.leave(by=ben, project=project, user=rosa)
    assert {one.user: one.role for one in project.memberships.all()} == {ben: "owner"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"role": "king"}, "'king' is not one of"),
        ({"user__kind": "simulated"}, "is not a person's account"),
        ({"role": "researcher"}, "is not a researcher here"),
    ],
)
def test_what_is_refused(given, message):
    rosa = ResearcherFactory()
    user = UserFactory(kind=given.get("user__kind", "person"))
    with pytest.raises(InputError, match=message):
        projects.join(by=rosa, project=Project.objects.get(), user=user, role=given.get("role", "adjudicator"))
    assert not user.memberships.exists()


@pytest.mark.parametrize("name", ["", "  ", "x" * 121, "a\0b", "Taken"])
def test_names_that_no_project_gets(name):
    ProjectFactory(name="Taken")
    before = Project.objects.count()
    with pytest.raises(InputError):
        projects.make(by=None, name=name)
    assert Project.objects.count() == before


def test_only_the_administration_makes_projects():
    with pytest.raises(InputError, match="administration"):
        projects.make(by=ResearcherFactory(), name="Mine")


def test_who_loses_a_project_works_in_the_other_one_again():
    rosa, first = ResearcherFactory(), Project.objects.get()
    second = projects.make(by=None, name="Second", owner=rosa)
    projects.join(by=None, project=second, user=ResearcherFactory(), role="owner")
    projects.choose(by=rosa, project=second)
    projects.leave(by=None, project=second, user=rosa)
    rosa.refresh_from_db()
    assert rosa.working_in is None
    assert studies.create(by=rosa, name="One", kind="pair", criteria=["preference"]).project == first


def test_the_commands(capsys):
    UserFactory(username="rosa")
    UserFactory(username="ada")
    call_command("project", "Group B", "--owner", "rosa", "--json")
    made = json.loads(capsys.readouterr().out)["projects"][0]
    assert made == {"name": "Group B", "slug": "group-b", "members": [{"user": "rosa", "role": "owner"}]}
    assert User.objects.get(username="rosa").is_researcher  # the operator makes researchers
    call_command("member", "group-b", "ada", "--role", "adjudicator")
    assert "ada: adjudicator of Group B" in capsys.readouterr().out
    assert not User.objects.get(username="ada").is_researcher
    call_command("member", "group-b", "ada", "--remove")
    call_command("project")
    assert "group-b: Group B; rosa (owner)" in capsys.readouterr().out
    for wrong in (("member", "nowhere", "ada", "--remove"), ("member", "group-b", "nobody", "--role", "owner"),
                  ("member", "group-b", "rosa", "--remove"), ("project", "Group B"),
                  ("project", "X", "--owner", "nobody")):  # fmt: skip
        with pytest.raises(CommandError) as refused:
            call_command(*wrong)
        assert refused.value.returncode == 2


def test_an_adjudicator_is_no_researcher_and_decides_only_where_they_were_asked():
    here, there = StudyFactory(project=ProjectFactory()), StudyFactory(project=ProjectFactory())
    ada = MembershipFactory(project=here.project, role="adjudicator").user
    assert not permissions.filter_visible(ada, Study.objects.all()).exists()
    assert list(permissions.filter_visible(ada, Study.objects.all(), roles=permissions.ADJUDICATING)) == [here]
    assert not permissions.sees(ada, there, roles=permissions.DECIDING)
