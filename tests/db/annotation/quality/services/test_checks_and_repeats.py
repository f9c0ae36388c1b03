"""Checks and repeats among bob's items, and a limit to them."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.corpus.models import Dialogue
from annotation.quality.models import KnownItem, QueueRules
from annotation.quality.queries import gold_questions as queries, quality
from annotation.quality.services import gold_questions, qualification
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.recruitment.services import consents
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries import labels, ratings, studies as overview
from annotation.studies.services import samples, studies
from annotation.workbench.queries import work
from annotation.workbench.queries.queue_position import QueueCounts, counts, load_last_taken
from annotation.workbench.services import adjudications, annotations, assignments, drafts
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import (
    CriterionFactory,
    DialogueFactory,
    ItemFactory,
    ProfileFactory,
    ResponsePairFactory,
    ScenarioFactory,
    UserFactory,
)
from tests.support.people import OpenStudy

GOOD = {"task_completion": "yes", "personalization": "3"}


def rate_next(by: User, study: Study, values: dict[str, str] = GOOD) -> Assignment | None:
    slot = assignments.lease_next(by=by, study=study)
    if slot:
        annotations.submit(by=by, assignment=slot, values=values)
    return slot


def name(study: Study, number: int, *, purpose: str = "check", by: User | None = None) -> list[KnownItem]:
    """New dialogues or pairs with known answers."""
    made = (DialogueFactory if study.kind == "dialogue" else ResponsePairFactory).create_batch(number)
    answers = {one.key: GoldAnswer(one.values[0], explanation="Because.") for one in study.criteria.all()}
    entries = [GoldEntry(one.external_id, answers) for one in made]
    return gold_questions.add(by=by, study=study, purpose=purpose, entries=entries, origin="stated")


@pytest.fixture
def study(open_study: OpenStudy, alice: User, bob: User) -> Study:
    """Sixty items; one in five is a check, of which there are four, one in five a repeat after four others."""
    made = open_study([bob], items=60, overlap=2)
    name(made, 4, by=alice)
    gold_questions.set_rules(by=alice, study=made, check_every=5, repeat_every=5, repeat_after=4)
    return made


@pytest.mark.any_database
@pytest.mark.long
def test_checks_and_repeats_come_among_the_items(study: Study, bob: User) -> None:
    given = list(iter(lambda: rate_next(bob, study), None))
    assert Counter(slot.purpose for slot in given)["check"] == 4, "each check once"
    assert Counter(slot.purpose for slot in given)["rating"] == 60
    assert 10 <= Counter(slot.purpose for slot in given)["repeat"] <= 18
    assert [slot.number for slot in given] == list(range(1, len(given) + 1))
    repeats = [slot for slot in given if slot.purpose == "repeat"]
    assert len({slot.item_id for slot in repeats}) == len(repeats), "no item is repeated twice"
    first = {slot.item_id: slot.number for slot in given if slot.purpose == "rating"}
    assert min(slot.number - first[slot.item_id] for slot in repeats) > 4


def test_a_check_comes_though_two_windows_ask_at_once(study: Study, bob: User) -> None:
    """The other window gets the number before it: what is due is decided again, and no check is passed over."""
    before, slot = load_last_taken(bob, study), assignments.lease_next(by=bob, study=study)
    while slot and work.load_mixing(bob, study).due(slot.number + 1) != "check":
        before = load_last_taken(bob, study)
        annotations.submit(by=bob, assignment=slot, values=GOOD)
        slot = assignments.lease_next(by=bob, study=study)
    found = assignments.claim_open(bob, study, before)
    assert slot
    assert found
    assert (found.number, found.purpose) == (slot.number + 1, "check")


@pytest.mark.long
def test_the_same_seed_gives_the_same_places(study: Study, bob: User) -> None:
    given = [(slot.purpose, slot.item_id) for slot in iter(lambda: rate_next(bob, study), None)]
    Annotation.objects.all().delete()
    study.assignments.exclude(purpose="rating").delete()
    study.assignments.update(**assignments.FREED, submitted_at=None)
    again = [(slot.purpose, slot.item_id) for slot in iter(lambda: rate_next(bob, study), None)]
    assert again == given


@pytest.mark.long
def test_progress_counts_them_from_the_start_so_that_they_do_not_show(study: Study, bob: User) -> None:
    totals, rated = [], []
    while slot := assignments.lease_next(by=bob, study=study):
        progress = work.my_progress(bob, study)
        totals.append(progress.total)
        rated.append(work.place(slot, bob, progress))
        assert work.my_studies(bob)[0].total == progress.total
        annotations.submit(by=bob, assignment=slot, values=GOOD)
    assert len(set(totals)) == 1, totals
    assert rated == list(range(1, totals[0] + 1))


@pytest.mark.long
@pytest.mark.any_database
@pytest.mark.parametrize("seed", range(12))
def test_progress_promises_no_repeat_before_there_is_one(open_study: OpenStudy, bob: User, seed: int) -> None:
    study = open_study([bob], items=12, overlap=1)
    name(study, 4)
    gold_questions.set_rules(by=None, study=study, check_every=4, repeat_every=4, repeat_after=2)
    Study.objects.filter(pk=study.pk).update(seed=seed)
    study.refresh_from_db()
    totals = [work.my_progress(bob, study).total]
    while slot := assignments.lease_next(by=bob, study=study):
        assignments.lease_next(by=bob, study=study, holding=[slot.pk])  # kept ready, as the page does
        totals.append(work.my_progress(bob, study).total)
        annotations.submit(by=bob, assignment=slot, values=GOOD)
        totals.append(work.my_progress(bob, study).total)
        assert work.my_studies(bob)[0].total == totals[-1]
    assert len(set(totals)) == 1, totals


def test_progress_counts_no_check_twice_that_is_handed_out_meanwhile(study: Study, bob: User, monkeypatch) -> None:
    """The page asks for the next items while it saves the last, so that both run between the statements."""
    rate_next(bob, study)
    before = work.my_progress(bob, study).total
    held: list[int] = []

    def count_then_hand_out(annotator: User, study: Study) -> QueueCounts:
        found = counts(annotator, study)
        for _ in range(12):
            slot = assignments.lease_next(by=annotator, study=study, holding=held)
            held.append(slot.pk)
        return found

    monkeypatch.setattr(work, "counts", count_then_hand_out)
    assert work.my_progress(bob, study).total == before
    assert Assignment.objects.filter(pk__in=held, purpose="check").count() > 1
    assert Assignment.objects.filter(pk__in=held, purpose="repeat").exists()


@pytest.mark.any_database
@pytest.mark.long
def test_nothing_but_ratings_is_computed_from_or_exported(study: Study, bob: User) -> None:
    while rate_next(bob, study):
        pass
    assert Annotation.objects.only_counting().count() == 120
    assert {one.table.n_ratings for one in ratings.load_study(study)} == {60}
    assert overview.study_row(study).submitted == 60
    assert overview.study_row(study).planned == 120
    assert overview.coverage(study) == [(0, 0), (1, 60), (2, 0)]
    assert overview.annotator_rows(study)[0].submitted == 60
    assert len(labels.load_people(study)) == 120
    assert {row.purpose for row in labels.load_people(study)} == {"rating"}
    left_out = labels.count_left_out(study)
    assert left_out["check"] == 8
    everything = list(labels.load_people(study, Assignment.Purpose.values))
    assert Counter(row.purpose for row in everything)["repeat"] == left_out["repeat"] > 0
    assert sum(row.pace is not None for row in quality.load_study(study)) == 0


@pytest.mark.long
def test_checks_and_repeats_of_one_profile_depend_on_each_other(study: Study, bob: User) -> None:
    while rate_next(bob, study):
        pass
    alone = {one.kind: one.overall for one in quality.records(study)}
    profiles = [ScenarioFactory(profile=ProfileFactory()) for _ in range(3)]
    for place, dialogue in enumerate(Dialogue.objects.order_by("pk")):
        Dialogue.objects.filter(pk=dialogue.pk).update(scenario=profiles[place % 3])
    shared = {one.kind: one.overall for one in quality.records(study)}
    assert {one.method for one in alone.values()} == {"Wilson"}
    for kind, found in shared.items():
        assert (found.value, found.n_items) == (alone[kind].value, alone[kind].n_items)
        assert found.method == "Wilson, effective n"
        assert found.high - found.low > alone[kind].high - alone[kind].low


@pytest.mark.any_database
def test_the_number_of_queries_does_not_grow(study: Study, bob: User, django_assert_max_num_queries) -> None:
    for _ in range(30):
        rate_next(bob, study)
    for _ in range(12):  # ratings, checks and repeats
        with django_assert_max_num_queries(9):
            slot = assignments.lease_next(by=bob, study=study)
        annotations.submit(by=bob, assignment=slot, values=GOOD)


def test_a_study_without_them_asks_no_more_than_before(
    open_study: OpenStudy, bob: User, django_assert_num_queries
) -> None:
    study = open_study([bob], items=5)
    rate_next(bob, study)
    with django_assert_num_queries(4):  # two of them the savepoint that a test's transaction needs
        assignments.lease_next(by=bob, study=study)


def test_one_kept_ready_is_made_anew_after_it_was_put_back(study: Study, bob: User) -> None:
    while (slot := assignments.lease_next(by=bob, study=study)).purpose != "check":
        annotations.submit(by=bob, assignment=slot, values=GOOD)
    assert assignments.put_back(by=bob, assignment=slot)
    assert not study.assignments.filter(purpose="check", annotator=bob, item=slot.item, state="leased").exists()
    again = assignments.lease_next(by=bob, study=study)
    assert (again.purpose, again.item_id, again.number) == ("check", slot.item_id, slot.number)
    assert assignments.release(by=bob, study=study, annotator=bob) == 0, "it is for nobody else"


def test_nobody_is_checked_with_what_they_have_seen(study: Study, alice: User, bob: User, charlie: User) -> None:
    pilot = CriterionFactory(key="personalization").study
    check = study.known_items.first()
    ItemFactory(study=pilot, dialogue=check.item.dialogue)
    assignments.add_annotators(by=alice, study=pilot, annotators=[bob, charlie])
    studies.open(by=alice, study=pilot)
    slot = assignments.lease_next(by=bob, study=pilot)
    annotations.submit(by=bob, assignment=slot, values={"personalization": "2"})
    assert check not in work.unseen_checks(bob, [study])
    assert work.unseen_checks(bob, [study]).count() == 3
    assert work.unseen_checks(charlie, [study]).count() == 4


@pytest.mark.any_database
@pytest.mark.long
def test_a_skipped_check_comes_back(study: Study, bob: User) -> None:
    while (slot := assignments.lease_next(by=bob, study=study)).purpose != "check":
        annotations.submit(by=bob, assignment=slot, values=GOOD)
    assignments.skip(by=bob, assignment=slot)
    last = None
    while found := rate_next(bob, study):
        last = found
    assert last.pk == slot.pk


def test_late_answers_to_a_check_go_to_the_check(study: Study, alice: User, bob: User) -> None:
    while (slot := assignments.lease_next(by=bob, study=study)).purpose != "check":
        annotations.submit(by=bob, assignment=slot, values=GOOD)
    studies.close(by=alice, study=study)
    late = drafts.keep_late(by=bob, assignment=slot, content=GOOD, reason="Closed.")
    used = drafts.use_late(by=alice, draft=late)
    assert (used.pk, used.purpose, used.state) == (slot.pk, "check", "submitted")


@pytest.mark.any_database
@pytest.mark.parametrize(("limit", "left"), [(7, 0), (100, 60)])
def test_nobody_is_given_more_than_the_limit(study: Study, alice: User, bob: User, limit: int, left: int) -> None:
    gold_questions.set_rules(by=alice, study=study, item_limit=limit)
    assert work.my_progress(bob, study).total <= limit
    given = list(iter(lambda: rate_next(bob, study), None))
    assert len(given) == (limit if limit == 7 else 60 + 4 + Counter(one.purpose for one in given)["repeat"])
    assert work.my_progress(bob, study).left == 0


def test_at_the_limit_what_was_skipped_still_comes_back(study: Study, alice: User, bob: User) -> None:
    gold_questions.set_rules(by=alice, study=study, item_limit=2)
    first = assignments.lease_next(by=bob, study=study)
    assignments.skip(by=bob, assignment=first)
    second = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=second, values=GOOD)
    assert assignments.lease_next(by=bob, study=study) == first


@pytest.mark.any_database
def test_the_order_of_a_pair_is_recorded_for_checks_and_repeats(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob], items=40, kind="pair")
    name(study, 5, by=alice)
    gold_questions.set_rules(by=alice, study=study, check_every=4, repeat_every=4, repeat_after=2)
    given = list(iter(lambda: rate_next(bob, study, {"preference": "A"}), None))
    special = [slot for slot in given if slot.purpose != "rating"]
    assert {slot.order for slot in special} == {"AB", "BA"}
    for slot in special:
        assert slot.annotations.get().value == slot.sides["A"]


def test_the_database_keeps_the_promises(study: Study, bob: User) -> None:
    first = rate_next(bob, study)
    again = {"study": study, "item": first.item, "slot": 1, "rank": 1, "annotator": bob}
    done = {"state": "submitted", "submitted_at": timezone.now()}
    Assignment.objects.create(**again, **done, purpose="repeat")
    for wrong in (
        {**again, **done, "purpose": "repeat"},  # once only
        {**again, **done, "purpose": "rating", "slot": 9},  # a second rating of the item
        {**again, **done, "purpose": "check"},  # without what is known
        {**again, "annotator": None, "purpose": "repeat", "state": "open"},  # for nobody
        {**again, **done, "purpose": "other"},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Assignment.objects.create(**wrong)


# ---------- naming ----------


@pytest.mark.any_database
def test_rules_are_on_record(study: Study, alice: User) -> None:
    before = QueueRules.objects.count()
    made = gold_questions.set_rules(by=alice, study=study, check_every=10)
    assert QueueRules.objects.count() == before + 1
    assert made.rules == {
        "check_every": 10,
        "repeat_every": 5,
        "repeat_after": 4,
        "item_limit": None,
        "pass_mark": None,
        "seed": 0,
    }
    assert made.decided_by == alice


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("check_every", 1),
        ("check_every", -1),
        ("repeat_every", 20_000),
        ("repeat_after", 0),
        ("item_limit", 0),
        ("pass_mark", 1.1),
    ],
)
def test_rules_that_make_no_sense_are_refused(study: Study, rule: str, value: float) -> None:
    with pytest.raises(InputError) as raised:
        gold_questions.set_rules(by=None, study=study, **{rule: value})
    assert raised.value.field == rule


@pytest.mark.any_database
def test_naming_twice_changes_nothing_and_other_answers_are_refused(study: Study) -> None:
    dialogue = DialogueFactory()
    entry = GoldEntry(dialogue.external_id, {"task_completion": GoldAnswer("yes")})
    (first,) = gold_questions.add(by=None, study=study, purpose="check", entries=[entry], origin="stated")
    (again,) = gold_questions.add(by=None, study=study, purpose="check", entries=[entry], origin="stated")
    assert first == again
    other = GoldEntry(f"test:{dialogue.external_id}", {"task_completion": GoldAnswer("no")}, line=7)
    with pytest.raises(InputError, match=r"line 7, field item: .* named with other answers"):
        gold_questions.add(by=None, study=study, purpose="check", entries=[other], origin="stated")
    gold_questions.retire(by=None, known=first)
    assert gold_questions.add(by=None, study=study, purpose="check", entries=[other], origin="stated")[0].pk != first.pk
    with pytest.raises(InputError, match="retired already"):
        gold_questions.retire(by=None, known=first)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (
            GoldEntry("nowhere", {"task_completion": GoldAnswer("yes")}, 3),
            "line 3, field item: There is no dialogue called",
        ),
        (
            GoldEntry("d", {"task_completion": GoldAnswer("perhaps")}, 3),
            "line 3, field task_completion: 'perhaps' is not on",
        ),
        (
            GoldEntry("d", {"task_completion": GoldAnswer("yes", ("maybe",))}, 3),
            "field task_completion: 'maybe' is not on",
        ),
        (GoldEntry("d", {"wit": GoldAnswer("yes")}, 3), "field criterion: The study asks no criterion 'wit'"),
        (GoldEntry("d", {}, 3), "field value: d has no answer"),
        (GoldEntry("d", {"task_completion": GoldAnswer("yes", (), "\0")}, 3), "field explanation"),
    ],
)
def test_bad_entries_are_named_and_nothing_is_kept(study: Study, entry: GoldEntry, says: str) -> None:
    DialogueFactory(external_id="d")
    good = GoldEntry("d", {"task_completion": GoldAnswer("yes")}, 2)
    before = KnownItem.objects.count()
    with pytest.raises(InputError, match=says):
        gold_questions.add(by=None, study=study, purpose="training", entries=[good, entry], origin="file")
    assert KnownItem.objects.count() == before
    study.refresh_from_db()
    assert study.pass_mark is None


@pytest.mark.any_database
def test_an_id_in_two_sources_must_name_the_source(study: Study) -> None:
    DialogueFactory(external_id="d", source="a")
    DialogueFactory(external_id="d", source="b")
    answers = {"task_completion": GoldAnswer("yes")}
    with pytest.raises(InputError, match="several called 'd': write source:id"):
        gold_questions.add(by=None, study=study, purpose="check", entries=[GoldEntry("d", answers)], origin="stated")
    (made,) = gold_questions.add(
        by=None, study=study, purpose="check", entries=[GoldEntry("b:d", answers)], origin="stated"
    )
    assert made.item.dialogue.source == "b"


def test_an_item_that_is_still_to_be_rated_cannot_be_a_check(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob], items=2, overlap=1)
    done = rate_next(bob, study)
    waiting = study.items.exclude(pk=done.item_id).get()
    answers = {"task_completion": GoldAnswer("yes")}
    with pytest.raises(InputError, match="still to be rated"):
        gold_questions.add(
            by=alice, study=study, purpose="check", entries=[GoldEntry(waiting.external_id, answers)], origin="stated"
        )
    (made,) = gold_questions.add(
        by=alice, study=study, purpose="check", entries=[GoldEntry(done.item.external_id, answers)], origin="stated"
    )
    assert made.item == done.item
    assert not work.unseen_checks(bob, [study]).exists(), "bob rated it"


@pytest.mark.any_database
def test_decided_items_of_another_study_become_checks(study: Study, alice: User, bob: User) -> None:
    criterion = CriterionFactory(key="personalization")
    item = ItemFactory(study=criterion.study)
    for value, reason in (("1", "first"), ("4", "It names the Thai place.")):
        adjudications.decide(by=alice, item=item, criterion=criterion, value=value, reason=reason)
    (made,) = gold_questions.add_decided(by=alice, study=study, purpose="check", source=criterion.study)
    answer = made.answers.get()
    assert (answer.criterion.study, answer.value, answer.explanation) == (study, "4", "It names the Thai place.")
    assert made.origin == f"decided in {criterion.study.name}"
    assert made.item.study.known_for == study
    Adjudication.objects.all().delete()
    with pytest.raises(InputError, match="Nothing is decided"):
        gold_questions.add_decided(by=alice, study=study, purpose="check", source=criterion.study)


def test_the_draft_that_holds_them_is_neither_listed_nor_opened(study: Study, alice: User) -> None:
    store = study.known_store
    assert store not in [row.study for row in overview.study_rows()]
    with pytest.raises(InputError, match="only holds known answers"):
        studies.open(by=alice, study=store)


def test_what_people_are_checked_with_is_not_drawn(alice: User) -> None:
    DialogueFactory.create_batch(3)
    draft = studies.create(by=alice, name="Draft", kind="dialogue", criteria=["task_completion"])
    (made,) = name(draft, 1)
    sample = samples.draw(by=alice, study=draft)
    assert sample.frame_size == 3
    assert made.item.dialogue not in [item.dialogue for item in draft.items.all()]


# ---------- training and qualification ----------


@pytest.fixture
def guarded(open_study: OpenStudy, alice: User, bob: User) -> Study:
    """Two training items, then two qualification items of two criteria each, with half right to pass."""
    made = open_study([bob], items=3)
    name(made, 2, purpose="qualification", by=alice)
    name(made, 2, purpose="training", by=alice)
    gold_questions.set_rules(by=alice, study=made, pass_mark=0.5)
    made.refresh_from_db()
    return made


RIGHT = {"task_completion": "yes", "personalization": "1"}
WRONG = {"task_completion": "no", "personalization": "3"}


def test_training_comes_first_then_qualification_then_the_work(guarded: Study, bob: User) -> None:
    given = [rate_next(bob, guarded, RIGHT).purpose for _ in range(5)]
    assert given == ["training", "training", "qualification", "qualification", "rating"]
    result = queries.admission(bob, guarded)
    assert (result.outcome, result.right, result.asked, result.pass_mark) == ("passed", 4, 4, 0.5)
    assert Annotation.objects.only_counting().count() == 2
    assert work.my_progress(bob, guarded).rated == 1


@pytest.mark.any_database
def test_exactly_the_mark_passes_and_less_does_not(guarded: Study, bob: User, charlie: User, alice: User) -> None:
    assignments.add_annotators(by=alice, study=guarded, annotators=[charlie])
    for values in (RIGHT, RIGHT, RIGHT, WRONG):
        rate_next(bob, guarded, values)
    assert assignments.lease_next(by=bob, study=guarded).purpose == "rating"
    for values in (RIGHT, RIGHT, {**WRONG, "task_completion": "yes"}, WRONG):
        rate_next(charlie, guarded, values)
    assert assignments.lease_next(by=charlie, study=guarded) is None
    result = queries.admission(charlie, guarded)
    assert (result.outcome, result.right, result.asked) == ("failed", 1, 4)


def test_who_cannot_judge_has_not_shown_that_they_can(guarded: Study, bob: User) -> None:
    for _ in range(4):
        slot = assignments.lease_next(by=bob, study=guarded)
        annotations.submit(
            by=bob, assignment=slot, values={}, unscored={"task_completion": "?", "personalization": "?"}
        )
    assert assignments.lease_next(by=bob, study=guarded) is None
    assert (queries.admission(bob, guarded).right, queries.admission(bob, guarded).asked) == (0, 4)


def test_an_answer_before_the_work_is_given_once(guarded: Study, bob: User) -> None:
    slot = rate_next(bob, guarded, WRONG)
    slot.refresh_from_db()
    with pytest.raises(annotations.NotTheirsError):
        annotations.submit(by=bob, assignment=slot, values=RIGHT)
    assert set(slot.annotations.values_list("value", flat=True)) == {"no", "3"}
    with pytest.raises(InputError):
        assignments.skip(by=bob, assignment=assignments.lease_next(by=bob, study=guarded))


def test_a_researcher_lets_somebody_through_with_a_reason(guarded: Study, alice: User, bob: User) -> None:
    for _ in range(4):
        rate_next(bob, guarded, WRONG)
    assert assignments.lease_next(by=bob, study=guarded) is None
    with pytest.raises(InputError) as raised:
        qualification.let_through(by=alice, study=guarded, annotator=bob, reason=" ")
    assert raised.value.field == "reason"
    made = qualification.let_through(by=alice, study=guarded, annotator=bob, reason="We talked it through.")
    assert (made.outcome, made.decided_by, made.right, made.asked) == ("admitted", alice, 0, 4)
    assert assignments.lease_next(by=bob, study=guarded).purpose == "rating"
    assert guarded.admissions.count() == 2, "the result stays on record"
    with pytest.raises(InputError, match="may rate already"):
        qualification.let_through(by=alice, study=guarded, annotator=bob, reason="Again.")


def test_only_an_annotator_of_a_study_with_a_qualification_is_let_through(
    guarded: Study, open_study: OpenStudy, alice: User, charlie: User
) -> None:
    with pytest.raises(InputError, match="not an annotator"):
        qualification.let_through(by=alice, study=guarded, annotator=charlie, reason="Why not.")
    gold_questions.set_rules(by=alice, study=guarded, pass_mark=None)
    with pytest.raises(InputError, match="asks for no qualification"):
        qualification.let_through(by=alice, study=guarded, annotator=charlie, reason="Why not.")


def test_who_rated_before_it_was_asked_goes_on(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob], items=3)
    rate_next(bob, study)
    name(study, 1, purpose="qualification", by=alice)
    study.refresh_from_db()
    assert study.pass_mark == gold_questions.PASS_MARK
    assert assignments.lease_next(by=bob, study=study).purpose == "rating"


def test_training_alone_lets_everybody_through(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob], items=3)
    name(study, 1, purpose="training", by=alice)
    study.refresh_from_db()
    assert rate_next(bob, study, WRONG).purpose == "training"
    assert assignments.lease_next(by=bob, study=study).purpose == "rating"
    assert queries.admission(bob, study).outcome == "passed"


def test_further_values_are_right_as_well(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob], items=1)
    dialogue = DialogueFactory()
    entry = GoldEntry(dialogue.external_id, {"personalization": GoldAnswer("3", ("4",), "It uses what it knows.")})
    gold_questions.add(by=alice, study=study, purpose="qualification", entries=[entry], origin="stated")
    study.refresh_from_db()
    rate_next(bob, study, {"task_completion": "yes", "personalization": "4"})
    assert qualification.conclude(by=bob, study=study).outcome == "passed"
    (item,) = queries.load_round(bob, study, "qualification")
    (answer,) = item.answers
    assert answer.right
    assert " or " in answer.expected


def test_a_round_is_marked_once_however_often_it_is_asked(guarded: Study, bob: User) -> None:
    for _ in range(4):
        rate_next(bob, guarded, WRONG)
    assert {qualification.conclude(by=bob, study=guarded) for _ in range(3)} == {guarded.admissions.get()}


def test_the_gate_costs_a_constant_number_of_queries(guarded: Study, bob: User, django_assert_max_num_queries) -> None:
    for _ in range(4):
        with django_assert_max_num_queries(16):
            slot = assignments.lease_next(by=bob, study=guarded)
        annotations.submit(by=bob, assignment=slot, values=RIGHT)


def test_charlie_is_not_handed_what_bob_has(guarded: Study, alice: User, bob: User) -> None:
    erin = UserFactory(username="erin")
    assignments.add_annotators(by=alice, study=guarded, annotators=[erin])
    bobs, erins = (assignments.lease_next(by=person, study=guarded) for person in (bob, erin))
    assert bobs.item == erins.item
    assert bobs.pk != erins.pk


def test_who_withdraws_leaves_no_check_behind(study: Study, bob: User) -> None:
    for _ in range(12):
        rate_next(bob, study)
    assert set(study.assignments.filter(annotator=bob).values_list("purpose", flat=True)) == {
        "rating",
        "check",
        "repeat",
    }
    consents.withdraw(by=None, study=study, annotator=bob)
    assert not study.assignments.filter(annotator=bob).exists()
    assert set(study.assignments.values_list("state", "purpose", "number")) == {("open", "rating", None)}
    assert study.assignments.count() == 120
