"""What differs from PersonaLens is read off the experiment, its agents and its judges."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.corpus.models import Profile
from judging.judges.services import judges
from judging.runs.services import runs
from simulation.agents import services as agents_services
from simulation.experiments.models import Experiment
from simulation.experiments.services import studies
from simulation.results.services import results
from simulation.results.services.differences import differences, list_shared_models
from tests.support import factories
from tests.support.simulation import begun, people, played

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def agent(side: str, model: str, provider: str = "anthropic", **parameters):
    return agents_services.build_agent(side=side, provider=provider, model=model, parameters=parameters)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-tests")


def rows(experiment: Experiment) -> dict[str, tuple[str, str, bool | None]]:
    return {one.setting: (one.paper, one.here, one.same) for one in differences(experiment)}


def test_models_and_parameters_as_published_are_the_same():
    people(1, 2)
    Profile.objects.update(source="personalens")

    found = rows(begun(user=agent("user", "claude-3-sonnet-20240229"), assistant=agent("assistant", "claude-3-haiku")))

    assert found["User agent: model"] == ("Claude 3 Sonnet", "claude-3-sonnet-20240229", True)
    assert found["User agent: temperature"] == ("0.5", "0.5", True)
    assert found["User agent: most tokens of a reply"] == ("800", "800", True)
    assert found["Assistants: temperature"][2] is True
    assert found["Assistants: model"][2] is False, "one of seven"
    assert found["Dataset"][2] is True
    assert found["Users"] == ("50", "1", False)
    assert found["Scenarios of one domain"] == ("3283", "1", False)
    assert found["Scenarios of several domains"] == ("813", "1", False)
    assert found["Limit, tasks of one domain"] == ("20 exchanges", "20 exchanges", True)
    assert all(same for setting, (_, _, same) in found.items() if setting.startswith("User agent"))
    assert found["Judge: model"][1:] == ("no judge has rated them", None)


def test_every_setting_that_is_another_one_is_said():
    people(1, 1)
    user = agent("user", "claude-haiku-4-5", temperature=None, max_tokens=300)
    own = {"user_later": "You want $intent, with $goal. End with $mark."}

    found = rows(begun(user=user, conditions=["base", "base+I-retrieved"], prompts=own, strategy="state_tracking"))

    assert found["User agent: model"][1:] == ("claude-haiku-4-5", False)
    assert found["User agent: temperature"] == ("0.5", "not sent", False)
    assert found["User agent: most tokens of a reply"][1:] == ("300", False)
    assert found["User agent: thinking"] == ("vanilla", "state_tracking", False)
    assert found["User agent: ends with"] == ("TERMINATE", "[END]", False)
    assert found["User agent, first turn: told"][1] == "intent, goal, demographics, preferences (named), situation"
    assert found["User agent, later turns: told"][1] == "intent, goal, dialogue"
    assert found["Assistant under base: told"] == ("dialogue", "dialogue", True)
    assert found["Assistant under base+I-retrieved: told"] == ("none", "past interactions (all), dialogue", False)
    assert found["Words of the prompts"][1] == "Concord's own; replaced: User agent, later turns"


@pytest.mark.each_database
def test_a_judge_that_rated_them_is_compared():
    people(1, 1)
    experiment = played()
    judge = judges.define(
        by=None,
        name="Claude",
        provider="anthropic",
        model="claude-3-5-sonnet-20241022",
        parameters={"templates": {"personalization": "$conversation $asked $answer"}},
    )
    study = studies.create_judge_study(by=None, experiment=experiment)
    run = runs.make(by=None, plan=runs.plan(study=study, judge=judge, repeats=3), queue=True)
    factories.JudgmentFactory(run=run, item=study.items.get(), criterion=study.criteria.first(), value="yes")

    found = rows(experiment)

    assert found["Claude: model"][2] is True
    assert "Claude: turns of the assistant" not in found
    runs.make(
        by=None,
        plan=runs.plan(study=study, judge=judge, every_turn=True, criteria=["naturalness_assistant"]),
        queue=True,
    )
    assert rows(experiment)["Claude: turns of the assistant"] == (
        "one call for all turns, each scored in sight of later ones",
        "a call for each turn, with the dialogue up to it",
        False,
    )
    assert found["Claude: temperature"] == ("0", "0", True)
    assert found["Claude: most tokens of a reply"] == ("4000", "2000", False)
    assert found["Claude: judgments of each item"] == ("1", "3", False)
    assert found["Claude on task_completion: told"] == ("goal, dialogue", "goal, dialogue", True)
    assert found["Claude on coherence_user: told"][2] is False
    assert found["Claude on personalization: told"][1].startswith("a template of its own, ")
    assert list_shared_models(experiment) == []


def test_one_model_in_several_parts_is_warned_of(client):
    people(1, 1)
    client.force_login(factories.ResearcherFactory())
    experiment = begun(user=agent("user", "claude-x"), assistant=agent("assistant", "claude-x", temperature=0.2))

    assert list_shared_models(experiment) == ["claude-x plays the users and is an assistant under test."]
    assert list_shared_models(begun(name="Rules")) == [], "scripted sides are no models"
    page = client.get(reverse("experiment_differences", args=[experiment.pk])).content.decode()
    assert "claude-x plays the users and is an assistant under test." in page
    assert (
        "What differs from the paper" in client.get(reverse("experiment_detail", args=[experiment.pk])).content.decode()
    )
    answer = client.get(reverse("api_differences", args=[experiment.pk])).json()
    assert answer["warnings"] == list_shared_models(experiment)
    assert answer["settings"][1] == {"setting": "Users", "paper": "50", "here": "1", "same": False}


@pytest.mark.each_database
def test_a_judge_that_is_the_assistant_or_the_user_agent_is_warned_of():
    people(1, 1)
    experiment = begun(user=agent("user", "claude-u"), assistant=agent("assistant", "claude-a"))
    dialogue = factories.DialogueFactory(scenario=experiment.dialogues.get().scenario)
    experiment.dialogues.update(ending="done", ended_at=timezone.now(), dialogue=dialogue)
    study = factories.StudyFactory(project=experiment.project)
    item, criterion = factories.ItemFactory(study=study, dialogue=dialogue), factories.CriterionFactory(study=study)
    for name in ("claude-a", "claude-u", "claude-j"):
        judge = judges.define(by=None, name=f"By {name}", provider="anthropic", model=name)
        run = factories.JudgeRunFactory(study=study, judge=judge)
        factories.JudgmentFactory(run=run, item=item, criterion=criterion, value="yes")

    assert list_shared_models(experiment) == [
        "claude-a is an assistant under test, and rates the dialogues as the judge By claude-a.",
        "claude-u plays the users, and rates the dialogues as the judge By claude-u.",
    ]


@pytest.mark.long
@pytest.mark.parametrize("judged_by", ["claude-x", "claude-j"])
def test_the_report_of_a_study_says_that_one_model_has_several_parts(client, judged_by):
    people(1, 1)
    experiment = begun(user=agent("user", "claude-x"), assistant=agent("assistant", "claude-x", temperature=0.2))
    dialogue = factories.DialogueFactory(scenario=experiment.dialogues.get().scenario)
    experiment.dialogues.update(ending="done", ended_at=timezone.now(), dialogue=dialogue)
    study = factories.StudyFactory(project=experiment.project)
    item, criterion = factories.ItemFactory(study=study, dialogue=dialogue), factories.CriterionFactory(study=study)
    judge = judges.define(by=None, name="Third", provider="anthropic", model=judged_by)
    run = factories.JudgeRunFactory(study=study, judge=judge, finished_at=timezone.now())
    factories.JudgmentFactory(run=run, item=item, criterion=criterion, value="3")
    client.force_login(factories.ResearcherFactory())

    expected = ["claude-x plays the users and is an assistant under test."]
    if judged_by == "claude-x":
        expected += [
            "claude-x plays the users and is an assistant under test, and rates the dialogues as the judge Third."
        ]
    for form in ("html", "latex", "json"):
        answer = client.get(reverse("report_download", args=[study.slug, form])).content.decode()
        text = " ".join(answer.split())
        assert all(line in text for line in expected), form
        assert ("rates the dialogues" in text) == (judged_by == "claude-x"), form
        if form == "json":
            assert json.loads(answer)["same_models"] == expected
        else:
            assert "One model has several parts" in text
    assert expected[0] in " ".join(client.get(reverse("report", args=[study.slug])).content.decode().split())


def test_a_report_of_other_dialogues_says_nothing_of_it(client):
    item = factories.ItemFactory()
    client.force_login(factories.ResearcherFactory())

    answer = client.get(reverse("report_download", args=[item.study.slug, "json"])).json()
    assert answer["same_models"] == []


def test_the_command_prints_them():
    people(1, 1)
    experiment = begun()

    def said(*arguments: str) -> str:
        out = StringIO()
        call_command("experiment_results", str(experiment.pk), "--against-paper", *arguments, stdout=out)
        return out.getvalue()

    assert "Users" in said()
    assert json.loads(said("--json"))["settings"] == [one.to_json() for one in differences(experiment)]
    with pytest.raises(CommandError, match="not figures"):
        said("--csv")


def test_what_a_judge_says_of_the_user_agent_is_a_table():
    people(1, 1)
    experiment = played()
    study = studies.create_judge_study(by=None, experiment=experiment, user_checks=True)
    judge = factories.JudgeFactory(provider="anthropic", model="claude-j")
    run = factories.JudgeRunFactory(study=study, judge=judge)
    for criterion, value in zip(study.criteria.all(), ("yes", "no", "no"), strict=True):
        factories.JudgmentFactory(run=run, item=study.items.get(), criterion=criterion, value=value)

    found = results.document(experiment, judge)

    (row,) = found["tables"]["user_checks"]["rows"]
    assert {key: cell["value"] for key, cell in row["cells"].items()} == dict(
        zip(studies.USER_CHECKS, (1.0, 0.0, 0.0), strict=True)
    )
    assert "user_checks" not in results.document(experiment, None)["tables"]
