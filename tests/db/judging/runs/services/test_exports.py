"""People's and judges' labels as one sequence."""

import pytest

from annotation.agreement.services import difficulty
from annotation.agreement.services.item_tiers import ItemTiers
from annotation.stats.bands import TIERS
from annotation.studies.queries import ratings
from judging.runs.services import exports
from tests.support.difficult import drawn
from tests.support.factories import CriterionFactory
from tests.support.labelled import add_verdicts, judge_says, people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    study = with_items(3, kind="pair")
    criterion = CriterionFactory(study=study, preference=True)
    people_say(criterion, {"bob": ["1", "2", "tie"]}, kind="simulated")
    run = judge_says(criterion, "gpt", ["1", "", "2"], order="AB")
    add_verdicts(run, criterion, ["1", "2", "2"], order="BA", repeat=2)
    judge_says(criterion, "longer", ["1", "1", "1"], provider="baseline", order="AB")
    return study


def test_every_label_of_every_rater_is_there(study, django_assert_num_queries):
    with django_assert_num_queries(4):
        rows = list(iter(exports.load_labels(study)))  # list() alone would count first
    assert len(rows) == 3 + 6 + 3
    assert {row.rater_kind for row in rows} == {"simulated", "judge", "baseline judge"}
    gpt = [row for row in rows if row.rater == "gpt"]
    assert [(row.position, row.repeat, row.order) for row in gpt[:2]] == [(1, 1, "AB"), (1, 2, "BA")]
    assert (gpt[2].value, gpt[2].unscored_reason) == ("", "no verdict in the reply")
    assert gpt[0].judge_run == study.judge_runs.get(judge__name="gpt").pk
    assert gpt[0].slot is None


@pytest.mark.parametrize(("start", "stop"), [(0, 2), (2, 5), (3, 4), (5, 99), (12, 14)])
def test_a_page_is_the_same_as_that_part_of_the_whole(study, start, stop):
    labels = exports.load_labels(study)
    assert len(labels) == 12
    assert labels[start:stop] == list(labels)[start:stop]


def test_one_row_by_its_place(study):
    labels = exports.load_labels(study)
    assert labels[3] == list(labels)[3]


def test_labels_carry_the_tier_of_their_item_where_that_is_asked_for():
    criterion = drawn()
    study = criterion.study
    few = CriterionFactory(study=study, key="few", position=2)
    people_say(few, {"sim-a": ["1", *[None] * 39]})
    judge_says(criterion, "gpt", ["1", *[None] * 39])
    rows = {
        row["position"]: row for row in difficulty.compute_criterion(study, ratings.load_criterion(criterion))["items"]
    }
    labels = list(iter(exports.load_labels(study, tiers=ItemTiers.read(study, patient=True))))
    told = [label for label in labels if label.criterion == "depth"]
    assert (len(labels), len(told), told[-1].rater_kind) == (122, 121, "judge")
    for label in told:
        row = rows[label.position]
        assert (label.model_tier, label.difficulty) == (row["tier"], row["difficulty"]["value"])
        assert {tier: getattr(label, f"p_{tier}") for tier in TIERS} == row["tiers"]
    (untold,) = (label for label in labels if label.criterion == "few")
    plain = next(iter(exports.load_labels(study)))
    for label in (untold, plain):
        assert (label.model_tier, label.difficulty, label.p_easy) == ("", None, None)
