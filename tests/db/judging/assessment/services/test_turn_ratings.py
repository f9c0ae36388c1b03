"""A judge's verdicts on turns beside people's, from tables and from its own run."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.agreement.options import IntervalOptions
from annotation.agreement.services.tiers import TierOptions
from annotation.studies.imports import ratings as people
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from core.errors import InputError
from core.files.input_files import InputFile
from judging.assessment.options import JudgedOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import agreement, scores
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.items import ItemFilter, RatedItems
from judging.runs.imports import ratings as judge
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries.judgments import list_people_answers
from judging.runs.services import runs
from judging.runs.services.run_criteria import select_item_criteria
from tests.support.factories import CriterionFactory, DialogueFactory, ResearcherFactory
from tests.support.judging import judged, scripted

pytestmark = pytest.mark.django_db

TALK = [
    {"role": "user", "content": "A table."},
    {"role": "assistant", "content": "At the Thai place?"},
    {"role": "user", "content": "Yes."},
    {"role": "assistant", "content": "It is booked."},
]
HEAD = "item,rater,criterion,turn,value\n"


def loaded(tmp_path: Path, text: str, *, by_judge: str = "", on_error: str = "stop"):
    path = tmp_path / "ratings.csv"
    path.write_text(text, encoding="utf-8")
    file = InputFile.from_path(path)
    if by_judge:
        return judge.load(by=None, file=file, study="Turns", judge=by_judge, on_error=on_error)
    return people.load(by=None, file=file, study="Turns", on_error=on_error)


def rows(rater: str, values: dict[tuple[str, int], str]) -> str:
    return "".join(f"{item},{rater},naturalness_assistant,{turn},{value}\n" for (item, turn), value in values.items())


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Three dialogues; anna and ben rate each turn of the assistant, and whether the task was done."""
    for name in "abc":
        DialogueFactory(external_id=name, turns=TALK)
    units = [(item, turn) for item in "abc" for turn in (2, 4)]
    anna, ben = dict(zip(units, "344512", strict=True)), dict(zip(units, "344511", strict=True))
    whole = "".join(f"{item},{rater},task_completion,,yes\n" for item in "abc" for rater in ("anna", "ben"))
    loaded(tmp_path, HEAD + rows("anna", anna) + rows("ben", ben) + whole)
    return Study.objects.get(name="Turns")


def test_a_table_with_turns_makes_a_criterion_of_turns(study: Study) -> None:
    assert dict(study.criteria.values_list("key", "unit")) == {
        "naturalness_assistant": "assistant_turn",
        "task_completion": "item",
    }
    assert Annotation.objects.filter(criterion__key="naturalness_assistant").count() == 12


def test_importing_again_changes_nothing(study: Study, tmp_path: Path) -> None:
    again = loaded(tmp_path, HEAD + rows("anna", {("a", 2): "3"}))
    assert again.to_document()["unchanged"]["annotations"] == 1
    assert Annotation.objects.filter(criterion__key="naturalness_assistant").count() == 12


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,eve,naturalness_assistant,,3", "is asked of turns: say which"),
        ("a,eve,naturalness_assistant,1,3", "which turn 1 is not"),
        ("a,eve,naturalness_assistant,5,3", "the item has no turn 5"),
        ("a,eve,naturalness_assistant,-2,3", "is the number of a turn"),
        ("a,eve,naturalness_assistant,99999999999,3", "is the number of a turn"),
        ("a,eve,task_completion,2,yes", "is asked of the whole item"),
    ],
)
def test_a_turn_that_cannot_be_rated_is_named_with_its_line(study: Study, tmp_path: Path, line: str, message) -> None:
    with pytest.raises(InputError, match=message) as wrong:
        loaded(tmp_path, HEAD + line + "\n")
    assert (wrong.value.line, wrong.value.field) == (2, "turn")


def test_a_turn_twice_is_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="repeats line 2"):
        loaded(tmp_path, HEAD + rows("eve", {("a", 2): "3"}) * 2)


def test_a_judge_of_turns_meets_people_turn_by_turn(study: Study, tmp_path: Path) -> None:
    units = [(item, turn) for item in "abc" for turn in (2, 4)]
    whole = "".join(f"{item},,task_completion,,yes\n" for item in "abc")
    told = rows("", dict(zip(units, "344521", strict=True)))
    loaded(tmp_path, HEAD + told + whole, by_judge="gpt")
    assert sorted(JudgeRun.objects.values_list("unit", flat=True)) == ["item", "turn"]

    options = JudgedOptions(bootstrap=200)
    found = StudyRatings.from_options(study, options)
    document = agreement.load_or_compute(by=None, study=study, options=options, ratings=found).result["criteria"]
    natural = document["naturalness_assistant"]
    # anna and ben agree on 5 of 6 turns, the judge with anna on 4 and with ben on 5
    assert (natural["n_items"], natural["n_ratings"]) == (6, 12)
    assert natural["coefficients"]["percent_agreement"]["value"] == pytest.approx(5 / 6)
    assert natural["judges"]["gpt"]["scored"] == 6
    assert document["task_completion"]["judges"]["gpt"]["scored"] == 3
    resampling = next(one for one in natural["conventions"] if one["code"] == "resampling")
    assert "clusters as independent (3 dialogues)" in resampling["message"]

    judgment = Judgment.objects.get(item__dialogue__external_id="c", turn=2)
    assert sorted(list_people_answers(judgment).values_list("value", flat=True)) == ["1", "1"]


def test_the_items_page_lists_turns(study: Study) -> None:
    natural = study.criteria.get(key="naturalness_assistant")
    found = RatedItems.read(study, natural, TierOptions(draws=0))
    assert found.positions(ItemFilter(majority="4")) == [1, 2]
    assert [one["turn"] for one in found.summary([1])[1]] == [2, 4]


def test_turns_are_rows_of_the_assessment(study: Study) -> None:
    found = StudyData.load(study)
    assert {one.key for one in found.criteria} == {"task_completion", "naturalness_assistant"}
    assert found.material.names == ("1", "2", "3")
    assert found.rows["assistant_turn"].names == ("1.2", "1.4", "2.2", "2.4", "3.2", "3.4")
    natural = found.people[study.criteria.get(key="naturalness_assistant").pk]
    assert natural.table.items == found.rows["assistant_turn"].names
    assert natural.table.n_ratings == 12


def test_a_run_on_every_turn_counts_where_people_rate_turns(study: Study) -> None:
    run = judged(study, scripted(), every_turn=True)
    assert set(run.criteria.values_list("key", flat=True)) == {"naturalness_assistant", "task_completion"}
    said = StudyRatings.from_options(study, JudgedOptions(bootstrap=0)).judges
    assert [column.name for column in said["naturalness_assistant"]] == [str(run.judge)]
    assert said["task_completion"] == ()


def test_a_run_on_whole_dialogues_leaves_out_what_is_asked_of_turns(study: Study) -> None:
    run = judged(study, scripted())
    assert list(run.criteria.values_list("key", flat=True)) == ["task_completion"]
    with pytest.raises(InputError, match="is asked of turns"):
        runs.plan(study=study, judge=run.judge, criteria=["naturalness_assistant"])
    assert select_item_criteria(study, list(study.criteria.filter(unit="item")), named=True)


class TestTurnsOfTheUser:
    """Judges that run here rate the assistant's turns; judgments of the user's come from elsewhere."""

    @pytest.fixture
    def study(self, study: Study, tmp_path: Path) -> Study:
        """Anna and ben also rate the user's turns, a judge those of both sides."""
        made = CriterionFactory(study=study, key="naturalness_user", name="Naturalness of the user", unit="user_turn")
        users = [(item, turn) for item in "abc" for turn in (1, 3)]
        for who, values in (("anna", "112233"), ("ben", "112234")):
            loaded(tmp_path, HEAD + of_user(who, dict(zip(users, values, strict=True))))
        told = of_user("", dict(zip(users, "112243", strict=True)))
        told += rows("", {(item, turn): "4" for item in "abc" for turn in (2, 4)})
        loaded(tmp_path, HEAD + told, by_judge="gpt")
        assert made.unit == "user_turn"
        return study

    def test_they_meet_people_turn_by_turn(self, study: Study) -> None:
        run = JudgeRun.objects.get()
        assert (run.unit, run.judgments.count()) == ("turn", 12)
        options = JudgedOptions(bootstrap=200)
        found = StudyRatings.from_options(study, options)
        document = agreement.load_or_compute(by=None, study=study, options=options, ratings=found).result["criteria"]
        user = document["naturalness_user"]
        assert (user["n_items"], user["n_ratings"], user["judges"]["gpt"]["scored"]) == (6, 12, 6)
        evidence = StudyData.load(study)
        said = evidence.load_judge(evidence.judge("gpt")).evidence
        assert said["naturalness_user"].material.names == ("1.1", "1.3", "2.1", "2.3", "3.1", "3.3")
        assert said["naturalness_assistant"].material.names == ("1.2", "1.4", "2.2", "2.4", "3.2", "3.4")
        assert not said["naturalness_user"].said.unscored.any()

    def test_scores_by_turn_count_each_side_by_itself(self, study: Study, client: Client) -> None:
        run = JudgeRun.objects.get()
        found = scores.compute_run(run, options=IntervalOptions(bootstrap=0))["criteria"]
        means = {key: {turn["turn"]: turn["estimate"]["value"] for turn in one["turns"]} for key, one in found.items()}
        assert means["naturalness_user"] == {1: pytest.approx(7 / 3), 2: pytest.approx(2)}
        assert means["naturalness_assistant"] == {1: 4, 2: 4}
        client.force_login(ResearcherFactory())
        page = client.get(reverse("run_scores", args=[run.pk])).content.decode()
        assert "Naturalness of the user by turn of the user" in page
        assert "Mean by turn of the assistant or user, over" in page

    @pytest.mark.long
    def test_pages_name_the_turn(self, study: Study, client: Client) -> None:
        client.force_login(ResearcherFactory())
        judgment = Judgment.objects.get(item__position=2, turn=3)
        assert "Turn 3" in client.get(reverse("judgment_detail", args=[judgment.pk])).content.decode()
        for name, args in (
            ("item_detail", ["turns", 2]),
            ("results", ["turns"]),
            ("run_detail", [judgment.run_id]),
            ("judge_verdict", ["turns", judgment.run.judge_id]),
        ):
            assert client.get(reverse(name, args=args)).status_code == 200, name

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("a,,naturalness_user,2,3", "each turn of the user, which turn 2 is not"),
            ("a,,naturalness_user,,3", "is asked of turns: say which"),
            ("a,,naturalness_user,7,3", "the item has no turn 7"),
        ],
    )
    def test_a_turn_of_the_other_side_is_refused(self, study: Study, tmp_path: Path, line: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            loaded(tmp_path, f"{HEAD}{line}\n", by_judge="other")

    def test_a_run_here_is_refused_with_what_to_do(self, study: Study) -> None:
        with pytest.raises(InputError, match="is asked of the user's turns: import judgments of these"):
            runs.plan(study=study, judge=scripted(), criteria=["naturalness_user"])


def of_user(rater: str, values: dict[tuple[str, int], str]) -> str:
    return rows(rater, values).replace("naturalness_assistant", "naturalness_user")
