from __future__ import annotations

import pytest

from core.errors import InputError
from judging.assessment.services import improvement
from judging.judges.models import Judge
from judging.judges.queries.contents import build_content, build_prompt, build_spec
from judging.judges.services import judges
from tests.support import factories
from tests.support.judging import dialogue_study, pair_study

pytestmark = pytest.mark.django_db


def test_the_same_settings_are_the_same_judge():
    alice = factories.ResearcherFactory()

    first = judges.define(by=alice, name="Careful", provider="scripted", parameters={"otherwise": "1"})
    again = judges.define(by=None, name=" Careful ", provider="scripted", parameters={"otherwise": "1"})

    assert again == first
    assert (first.version, first.created_by, str(first)) == (1, alice, "Careful")


def test_a_change_makes_a_new_version():
    judges.define(by=None, name="Careful", provider="scripted", parameters={"otherwise": "1"})

    second = judges.define(by=None, name="Careful", provider="scripted", parameters={"otherwise": "2"})

    assert (second.version, str(second)) == (2, "Careful v2")
    assert judges.find("Careful") == second


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"provider": "oracle"}, "provider"),
        ({"provider": "imported"}, "provider"),
        ({"parameters": {"speed": 1}}, "parameters"),
        ({"model": "m" * 121}, "model"),
    ],
)
def test_bad_settings_are_said_at_their_field(options, field):
    with pytest.raises(InputError) as raised:
        judges.define(by=None, **{"name": "Careful", "provider": "baseline", **options})

    assert raised.value.field == field
    assert not Judge.objects.exists()


class TestTemperature:
    """As published, a judge is asked at temperature 0."""

    def define(self, **parameters) -> Judge:
        return judges.define(by=None, name="Claude", provider="anthropic", model="claude-x", parameters=parameters)

    def test_a_new_judge_is_given_0_and_stays_the_same_judge(self):
        judge = self.define()

        assert judge.parameters == {"temperature": 0.0}
        assert self.define() == judge
        assert self.define(max_tokens=500).parameters == {"temperature": 0.0, "max_tokens": 500}

    def test_one_of_its_own_or_none_stays(self):
        assert self.define(temperature=0.7).parameters == {"temperature": 0.7}
        assert self.define(temperature=None).parameters == {"temperature": None}

    def test_a_judge_from_before_the_default_keeps_sending_none(self):
        old = factories.JudgeFactory(name="Claude", provider="anthropic", model="claude-x", parameters={})

        assert self.define() == old
        assert self.define(max_tokens=500).parameters == {"max_tokens": 500}

    def test_a_provider_with_a_default_of_its_own_or_without_any_is_left_alone(self):
        assert judges.define(by=None, name="Small", provider="local").parameters == {}
        assert judges.define(by=None, name="Rules", provider="baseline").parameters == {}


def test_an_unknown_judge_names_the_known_ones():
    factories.JudgeFactory(name="Careful")

    with pytest.raises(InputError, match="'Careless'; there are: Careful"):
        judges.find("Careless")


def test_an_imported_judge_cannot_run():
    with pytest.raises(InputError, match="imported"):
        judges.check(factories.JudgeFactory(provider="imported"), [])


def test_what_stands_in_the_way_is_said(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    with pytest.raises(InputError, match="no API key: set ANTHROPIC_API_KEY") as raised:
        judges.check(factories.JudgeFactory(provider="anthropic", model="claude-test"), [])
    assert raised.value.field == "judge"


class TestTemplates:
    """A judge may bring a template of its own."""

    def judge(self, template: str) -> Judge:
        parameters = {"template": template, "system": ""}
        return judges.define(by=None, name="Paper", provider="local", parameters=parameters)

    @pytest.mark.parametrize(
        ("template", "said"),
        [
            ("Rate it.", "lacks \\$conversation"),
            ("$conversation $mood", "\\$\\{mood\\} is not a placeholder for a dialogue"),
            ("$question $response_a", "lacks \\$response_b"),
        ],
    )
    def test_one_that_cannot_be_used_is_refused(self, template, said):
        with pytest.raises(InputError, match=said) as raised:
            self.judge(template)
        assert raised.value.field == "template"
        assert not Judge.objects.exists()

    def test_one_for_dialogues_does_not_ask_about_pairs(self):
        judge = self.judge("$conversation $criterion")

        with pytest.raises(InputError, match="not a placeholder for a pair"):
            judges.check_template_fits(judge, list(pair_study(1).criteria.all()))

    def test_one_that_names_no_criterion_asks_one_at_a_time(self):
        judge = self.judge("How personal is it? $conversation")
        criteria = list(dialogue_study(1).criteria.all())

        judges.check_template_fits(judge, criteria[:1])
        with pytest.raises(InputError, match="asks the same whatever the criterion"):
            judges.check_template_fits(judge, criteria)

    def test_it_is_what_the_judge_is_asked_in(self):
        study = dialogue_study(1)
        content = build_content(study.items.get(), study.shown, "")

        prompt = build_prompt(self.judge("Paper: $conversation"), build_spec(study.criteria.first()), content)

        assert prompt.user.startswith("Paper: ----")
        assert prompt.system == ""


class TestTemplatesByCriterion:
    """One template for a criterion goes before the one for all, and that before Concord's own."""

    def judge(self, named: dict[str, str], **parameters: str) -> Judge:
        return judges.define(by=None, name="P", provider="local", parameters={"templates": named, **parameters})

    def test_each_criterion_is_asked_in_its_own(self):
        study = dialogue_study(1)
        first, second = (build_spec(criterion) for criterion in study.criteria.all()[:2])
        content = build_content(study.items.get(), study.shown, "")

        judge = self.judge({first.key: "Paper: $conversation"})
        said = [build_prompt(judge, one, content).user for one in (first, second)]
        judge = self.judge({first.key: "Paper: $conversation"}, template="All: $conversation")
        of_all = [build_prompt(judge, one, content).user for one in (first, second)]

        assert said[0].startswith("Paper: ----")
        assert said[1].startswith("A user talked with an assistant.")
        assert [text[:5] for text in of_all] == ["Paper", "All: "]

    def test_one_that_names_no_criterion_is_enough_for_its_own(self):
        criteria = list(dialogue_study(1).criteria.all()[:2])

        judges.check_template_fits(self.judge({one.key: "$conversation" for one in criteria}), criteria)
        judge = self.judge({criteria[0].key: "Now: $conversation"}, template="$conversation")
        judges.check_template_fits(judge, criteria)

    def test_one_that_cannot_be_used_is_named(self):
        with pytest.raises(InputError, match=r"personalization: The template lacks \$conversation") as raised:
            self.judge({"personalization": "Rate it."})
        assert raised.value.field == "templates"

    def test_a_version_with_another_one_keeps_the_rest(self):
        judge = self.judge({"tone": "Tone: $conversation"}, template="All: $conversation")

        second = improvement.new_version(by=None, judge=judge, templates={"style": "Style: $conversation"})
        third = improvement.new_version(by=None, judge=second, templates={"tone": ""})

        assert set(second.parameters["templates"]) == {"tone", "style"}
        assert set(third.parameters["templates"]) == {"style"}
        assert third.parameters["template"] == "All: $conversation"
