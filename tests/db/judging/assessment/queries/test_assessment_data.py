"""The frozen columns that calibration and audits are computed from."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement.services.tiers import set_tier
from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.models.labels import Adjudication, Draft
from annotation.studies.models.studies import Item
from annotation.workbench.services import exclusions
from core.accounts.models.users import User
from core.errors import InputError
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.queries.ratings import load_study
from judging.assessment.queries.replies import LOG_PROBABILITIES, OF_MEMBERS, REPEATS
from judging.judges.models import PANEL
from judging.runs.models.runs import Judgment
from tests.support.factories import (
    CriterionFactory,
    DialogueFactory,
    JudgeFactory,
    JudgeRunFactory,
    ResearcherFactory,
    ScenarioFactory,
    UserFactory,
)
from tests.support.labelled import add_verdicts, judge_says, people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def criterion():
    study = with_items(6, kind="pair", name="Suits", slug="suits")
    return CriterionFactory(study=study, key="preference", name="Preference", preference=True)


def of(criterion, name="gpt"):
    evidence = StudyData.load(criterion.study)
    return evidence.load_judge(evidence.judge(name)).evidence[criterion.key]


def test_people_and_judge_as_columns(criterion):
    people_say(criterion, {"bob": ["1", "2", "tie", "", None, "1"], "dana": ["1", "1", "tie", "", None, None]})
    judge_says(criterion, "gpt", ["1", "2", "", "1", "1", None], order="AB")
    found = of(criterion)
    assert found.people.consensus.tolist() == [0, -1, 2, -1, -1, 0]
    assert found.people.tied.tolist() == [False, True, False, False, False, False]
    assert found.people.declined.tolist() == [0, 0, 0, 2, 0, 0]
    assert found.said.codes.tolist() == [0, 1, -1, 0, 0, -1]
    assert found.said.unscored.tolist() == [False, False, True, False, False, False]
    assert found.said.asked.tolist() == [True] * 5 + [False]
    # nobody could judge: neither labelled nor part of the unlabelled rest; not asked: no part of anything
    assert found.usable.tolist() == [True, True, True, False, True, False]
    assert found.columns().human[1] == ("1", "2")
    assert found.agreement.tolist()[1] == 0.5


def test_an_adjudication_goes_before_the_majority_and_the_newest_holds(criterion):
    people_say(criterion, {"bob": ["1"] * 6, "dana": ["2"] * 6})
    judge_says(criterion, "gpt", ["1"] * 6)
    item, alice = criterion.study.items.get(position=2), UserFactory(username="alice")
    for value in ("tie", "2"):
        Adjudication.objects.create(item=item, criterion=criterion, value=value, decided_by=alice)
    assert of(criterion).people.consensus.tolist() == [-1, 1, -1, -1, -1, -1]


def test_what_came_too_late_is_no_label(criterion):
    people_say(criterion, {"bob": ["1"] * 6})
    judge_says(criterion, "gpt", ["1"] * 6)
    slot = criterion.study.assignments.get(item__position=1)
    Draft.objects.create(
        assignment=slot, annotator=UserFactory(), state="late", late_reason="gone", content={"preference": "2"},
        saved_at=slot.submitted_at,
    )  # fmt: skip
    assert of(criterion).table.raters == ("bob",)


def test_who_is_excluded_is_not_counted_and_a_tier_set_by_hand_holds(criterion):
    people_say(criterion, {"bob": ["1"] * 6, "dana": ["1"] * 6, "erin": ["2"] * 6})
    judge_says(criterion, "gpt", ["1"] * 6)
    assert set(of(criterion).people.tiers) == {"contested"}
    alice, erin = ResearcherFactory(username="alice"), User.objects.get(username="erin")
    criterion.study.annotators.add(erin)
    exclusions.exclude(by=alice, study=criterion.study, annotator=erin, reason="careless")
    set_tier(by=alice, item=criterion.study.items.get(position=2), criterion=criterion, tier="hard", reason="read it")
    found = of(criterion)
    assert found.table.raters == ("bob", "dana")
    assert found.people.tiers == ("easy", "hard", "easy", "easy", "easy", "easy")


def test_both_orders_have_to_name_the_same_response(criterion):
    run = judge_says(criterion, "gpt", ["1", "1", "1", "2", "2", ""], order="AB")
    add_verdicts(run, criterion, ["1", "2", "", "2", "1", ""], order="BA")
    said = of(criterion).said
    assert said.codes.tolist() == [0, -1, 0, 1, -1, -1]
    assert said.first.tolist() == [0, 0, 0, 1, 1, -1]
    assert said.second.tolist() == [0, 1, -1, 1, 0, -1]


def test_repeats_tell_how_sure_the_judge_is(criterion):
    run = judge_says(criterion, "gpt", ["1", "1", "2", "2", "tie", ""])
    add_verdicts(run, criterion, ["1", "2", "2", "2", "tie", ""], repeat=2)
    said = of(criterion).said
    assert said.confidence_from == REPEATS
    np.testing.assert_allclose(said.confidence, [1, 0.5, 1, 1, 1, np.nan])
    assert said.repeated[1].tolist() == [0, 1]


def test_a_later_repeat_does_not_stand_in_for_a_missing_first_one(criterion):
    """Agreement reads the first repeat alone, and so does all that is computed here."""
    run = judge_says(criterion, "gpt", ["1", "2", None, "tie", None, "1"], order="AB")
    add_verdicts(run, criterion, ["1", "1", "2", "tie", "", "1"], order="AB", repeat=2)
    said = of(criterion).said
    assert said.codes.tolist() == [0, 1, -1, 2, -1, 0]
    assert said.asked.tolist() == [True, True, False, True, False, True]
    assert said.repeated[2].tolist() == [-1, 1]
    (read,) = load_study(criterion.study)[criterion.pk]
    assert read.said.units.size == said.asked.sum()


def test_probabilities_go_before_repeats_where_every_verdict_has_one(criterion):
    run = judge_says(criterion, "gpt", ["1", "1", "2", "2", "tie", ""])
    Judgment.objects.filter(run=run, value="1").update(details={"distribution": {"1": 0.7, "2": 0.3}})
    assert of(criterion).said.confidence_from == ""
    for value in ("2", "tie"):
        Judgment.objects.filter(run=run, value=value).update(details={"distribution": {value: 0.9}})
    said = of(criterion).said
    assert said.confidence_from == LOG_PROBABILITIES
    np.testing.assert_allclose(said.confidence, [0.7, 0.7, 0.9, 0.9, 0.9, np.nan])


def test_of_a_panel_it_is_the_share_of_its_members(criterion):
    run = judge_says(criterion, "panel", ["1", "1", "2", "2", "tie", ""], provider=PANEL)
    Judgment.objects.filter(run=run).exclude(value="").update(details={"distribution": {"1": 0.5, "2": 0.75, "tie": 1}})
    said = of(criterion, "panel").said
    assert said.confidence_from == OF_MEMBERS
    np.testing.assert_allclose(said.confidence, [0.5, 0.5, 0.75, 0.75, 1, np.nan])


def test_pairs_are_clustered_by_profile_or_question_and_know_lengths_and_assistants(criterion):
    pairs = list(ResponsePair.objects.order_by("pk"))
    ResponsePair.objects.filter(pk__in=[pairs[0].pk, pairs[1].pk]).update(question="The same?")
    ResponsePair.objects.filter(pk=pairs[0].pk).update(
        response_1="aaaa", response_2="bb", model_1="llama-7b", model_2="gpt-4"
    )
    judge_says(criterion, "gpt", ["1"] * 6)
    material = of(criterion).material
    assert len(set(material.clusters)) == 5
    assert material.length[0] == pytest.approx(np.log(2))
    assert (material.assistants[0], material.opponents[0]) == ("llama-7b", "gpt-4")
    assert material.weights is None


def test_dialogues_are_clustered_by_profile_and_grouped():
    study = with_items(24, name="Talks", slug="talks")
    scenario = ScenarioFactory()
    Dialogue.objects.filter(items__study=study, items__position__lte=12).update(
        scenario=scenario, assistant_model="fern"
    )
    Dialogue.objects.filter(items__study=study, items__position__gt=12).update(assistant_model="moss")
    Item.objects.filter(study=study, position__gt=12).update(inclusion_probability=0.5)
    criterion = CriterionFactory(study=study, key="personalization")
    judge_says(criterion, "gpt", ["3"] * 24)
    material = of(criterion).material
    assert len(set(material.clusters)) == 13
    assert set(material.groups["assistant"]) == {"fern", "moss"}
    assert material.weights is not None
    assert sorted(set(material.weights.tolist())) == [1.0, 2.0]
    assert len(set(material.fingerprints)) == 24


def test_a_judge_by_its_name_is_its_newest_version_and_earlier_ones_have_their_own(criterion):
    for version, value in ((1, "1"), (2, "2")):
        judge = JudgeFactory(name="gpt", version=version, provider="imported")
        run = JudgeRunFactory(study=criterion.study, judge=judge, criteria=[criterion])
        add_verdicts(run, criterion, [value] * 6)
    evidence = StudyData.load(criterion.study)
    assert evidence.judge("gpt").version == 2
    assert evidence.judge("gpt v2").version == 2
    assert evidence.judge("gpt v1").version == 1
    found = evidence.load_judge(evidence.judge("gpt")).evidence["preference"]
    assert found.said.codes.tolist() == [1] * 6
    assert found.previous.tolist() == [0] * 6
    with pytest.raises(InputError, match="there are: gpt, gpt v2"):
        evidence.judge("claude")


def test_the_number_of_queries_depends_on_nothing(criterion, django_assert_num_queries):
    people_say(criterion, {"bob": ["1"] * 6})
    judge_says(criterion, "gpt", ["1"] * 6)
    with django_assert_num_queries(12):
        evidence = StudyData.load(criterion.study)
        evidence.load_judges(evidence.judges())
    for name in ("a", "b", "c"):
        judge_says(CriterionFactory(study=criterion.study, key=name), name, ["1"] * 6)
    with django_assert_num_queries(12):
        evidence = StudyData.load(criterion.study)
        evidence.load_judges(evidence.judges())


def test_copies_have_the_same_fingerprint():
    study = with_items(2, name="Copies", slug="copies")
    turns = [{"role": "user", "content": "Book  a table"}, {"role": "assistant", "content": "Done."}]
    first, second = study.items.order_by("position")
    Dialogue.objects.filter(pk=first.dialogue_id).update(turns=turns)
    Dialogue.objects.filter(pk=second.dialogue_id).update(turns=[{**turns[0], "content": "book a table"}, turns[1]])
    DialogueFactory()
    prints = StudyData.load(study).material.fingerprints
    assert prints[0] == prints[1]


def test_an_explanation_that_names_another_score_contradicts():
    criterion = CriterionFactory(study=with_items(3, slug="words"), key="personalization")
    run = judge_says(criterion, "gpt", ["1", "2", "3"])
    for value, words in (("1", "I rate it 4 out of 4."), ("2", "A score of 2."), ("3", "Polite.")):
        run.judgments.filter(value=value).update(explanation=words)
    np.testing.assert_allclose(of(criterion).said.contradicts, [1, 0, np.nan])
    assert of(criterion).said.explained.all()


def test_the_side_that_a_pairs_explanation_prefers_is_held_against_the_order_shown(criterion):
    run = judge_says(criterion, "gpt", ["1", "1", "2", "tie", "1", "1"])
    words = {1: "A is better.", 2: "A is better.", 3: "I prefer A.", 4: "Both are equally good.", 5: "Polite.", 6: ""}
    for position, explanation in words.items():
        order = "BA" if position in (2, 3) else "AB"
        run.judgments.filter(item__position=position).update(explanation=explanation, order=order)
    said = of(criterion).said
    np.testing.assert_allclose(said.contradicts, [0, 1, 0, 0, np.nan, np.nan])
    assert said.explained.tolist() == [True, True, True, True, True, False]
    run.judgments.update(order="")
    assert np.isnan(of(criterion).said.contradicts).all(), "without the order nobody knows which response A was"


def test_a_scale_without_order_is_read_by_its_names():
    criterion = CriterionFactory(study=with_items(3, slug="goals"), key="done", yes_no=True)
    run = judge_says(criterion, "gpt", ["yes", "no", "yes"])
    for position, explanation in ((1, "Verdict: no."), (2, "So my answer is no."), (3, "Nice.")):
        run.judgments.filter(item__position=position).update(explanation=explanation)
    np.testing.assert_allclose(of(criterion).said.contradicts, [1, 0, np.nan])
