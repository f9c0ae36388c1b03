"""Expected values are counted by hand in the comments."""

from __future__ import annotations

import pytest

from core.jobs.backoff import PermanentError
from judging.judges.providers.base import Reply
from judging.judges.providers.baseline import RULES, Baseline
from judging.judges.providers.baseline.trivial import chance
from judging.judges.providers.baseline.words import content_words, questions, words
from judging.judges.providers.requests import (
    Category,
    CriterionSpec,
    DialogueContent,
    JudgeRequest,
    PairContent,
    Person,
    Turn,
)
from tests.support.asking import run

ALICE = Person(
    persona="Alice bakes sourdough and hikes with her dog.",
    preferences={
        "Restaurants": {"Cuisine": ["Thai", "South Indian"], "Atmosphere": ["quiet"]},
        "Flights": {"Seat": ["aisle"]},
    },
)
FOUR = ("1", "2", "3", "4")
FIVE = (*FOUR, "5")


def spec(key: str, *values: str) -> CriterionSpec:
    return CriterionSpec(key, key, "?", "", "ordinal", tuple(Category(value, value) for value in values))


def dialogue(*texts: str, person: Person = ALICE, **options) -> DialogueContent:
    turns = tuple(Turn("user" if at % 2 == 0 else "assistant", text) for at, text in enumerate(texts))
    return DialogueContent(turns=turns, person=person, domains=("Restaurants",), **options)


def judge(criterion: CriterionSpec, content) -> Reply:
    return run(Baseline().judge(JudgeRequest("item", criterion, content)))


def test_words_are_lower_case_without_plural_s_and_pairs_in_chinese():
    assert words("Two quiet Tables, please!") == ["two", "quiet", "table", "please"]
    assert words("苹果好吃 ok") == ["苹果", "果好", "好吃", "ok"]
    assert content_words("I like the Thai one") == {"thai"}
    assert questions("Fine. Shall I book it? Yes. 好吗？") == ["Shall I book it?", "好吗？"]


class TestPersonalization:
    criterion = spec("personalization", *FOUR)

    def test_bringing_up_both_known_preferences_is_the_best(self):
        # 2 of 2 relevant types (Cuisine, Atmosphere) come from the assistant first: 1.0 / 0.5, capped at 1 -> step 4
        reply = judge(self.criterion, dialogue("Find me dinner.", "A quiet Thai place is free at eight."))

        assert reply.value == "4"
        assert reply.details["features"]["applied"] == ["Restaurants: Atmosphere", "Restaurants: Cuisine"]
        assert reply.explanation.startswith("Baseline, no model:")

    def test_what_the_user_says_first_earns_nothing(self):
        # 0 applied, 0 asked for: score 0 -> step 1
        reply = judge(self.criterion, dialogue("A quiet Thai dinner.", "A quiet Thai place is free."))

        assert (reply.value, reply.details["score"]) == ("1", 0.0)
        assert reply.details["features"]["told"] == ["Restaurants: Atmosphere", "Restaurants: Cuisine"]

    def test_asking_for_what_is_known_costs_half(self):
        # Atmosphere applied 1/2, Cuisine asked for 1/2: (1/2 - 1/4) / (1/2) = 0.5 -> step 3 of 4
        reply = judge(self.criterion, dialogue("Dinner?", "Somewhere quiet. Which cuisine would you like?"))

        assert (reply.value, reply.details["score"]) == ("3", 0.5)
        assert reply.details["features"]["asked"] == ["Restaurants: Cuisine"]

    def test_only_the_types_of_the_task_count(self):
        # only Atmosphere matters, and it is applied: 1 of 1
        content = dialogue("Dinner?", "Somewhere quiet.", preference_types=("Atmosphere",))

        assert judge(self.criterion, content).details["features"]["relevant"] == 1

    def test_without_a_known_preference_there_is_nothing_to_measure(self):
        reply = judge(self.criterion, dialogue("Dinner?", "Somewhere quiet.", person=Person()))

        assert (reply.value, reply.unscored) == (None, "nothing_to_measure")


class TestTaskCompletion:
    criterion = spec("task_completion", "yes", "no")

    @pytest.mark.parametrize(
        ("last", "value", "score"),
        [
            ("Done, it is booked.", "yes", 0.75),  # 0.4 + 0.35 confirms
            ("Sorry, I am unable to do that.", "no", 0.05),  # 0.4 - 0.35 refuses
            ("Shall I look further?", "no", 0.1),  # 0.4 - 0.3 ends asking
        ],
    )
    def test_the_last_turns_decide(self, last, value, score):
        reply = judge(self.criterion, dialogue("A table for two.", last))

        assert (reply.value, reply.details["score"]) == (value, pytest.approx(score))

    def test_thanks_count(self):
        # 0.4 + 0.35 (booked, two turns back) + 0.15 (thanks)
        reply = judge(self.criterion, dialogue("A table.", "It is booked.", "Thanks!", "Enjoy your evening."))

        assert reply.details["score"] == pytest.approx(0.9)


class TestNaturalness:
    def test_turns_of_the_common_length_that_differ_are_the_best(self):
        text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"

        assert judge(spec("naturalness_user", *FIVE), dialogue(text, "Right.")).value == "5"

    def test_the_same_turn_again_and_again_is_not_natural(self):
        # 4 equal turns: openings 1/4, word pairs 3/12, so at most 1/16 -> step 1
        reply = judge(spec("naturalness_user", *FIVE), dialogue(*["Please book it now", "Hm."] * 4))

        assert reply.value == "1"
        assert reply.details["features"]["openings"] == 0.25
        assert reply.details["features"]["word_pairs"] == 0.25

    def test_each_side_is_measured_by_itself(self):
        content = dialogue("Please book it.", "Booked.")

        assert judge(spec("naturalness_user", *FIVE), content).details["features"]["word_pairs"] == 1.0
        assert judge(spec("naturalness_assistant", *FIVE), dialogue("Hello.")).unscored == "nothing_to_measure"


class TestCoherence:
    criterion = spec("coherence_assistant", *FIVE)

    def test_taking_up_what_was_said_is_coherent(self):
        # "Thai table booked": 2 of 3 content words (thai, table) were said: 0.667 / 0.5, capped -> step 5
        reply = judge(self.criterion, dialogue("A Thai table.", "Thai table booked."))

        assert reply.value == "5"
        assert reply.details["features"]["overlap"] == pytest.approx(0.6667)

    def test_asking_twice_costs(self):
        # the user said dinner and friday, the assistant day: overlap 0; one of two questions is a repetition: 0 - 1/2
        reply = judge(self.criterion, dialogue("Dinner.", "Which day?", "Friday.", "Which day?"))

        assert reply.details["features"]["repeated"] == 0.5
        assert reply.value == "1"


class TestPreference:
    criterion = spec("preference", "A", "B", "tie")

    def pair(self, a: str, b: str) -> PairContent:
        return PairContent("What shall I do on Sunday?", a, b, person=ALICE)

    def test_the_response_that_shares_more_words_with_the_person_wins(self):
        # A: dog, hike-> "hike" is not "hikes" without s? yes: hikes -> hike; bake is not said. 2 against 0
        reply = judge(self.criterion, self.pair("Hike with the dog.", "Watch a long film."))

        assert reply.value == "A"
        assert reply.details["features"]["A"]["words_of_the_person"] == 2
        assert reply.details["decided_by"] == "words_of_the_person"

    def test_the_order_does_not_matter(self):
        assert judge(self.criterion, self.pair("Watch a long film.", "Hike with the dog.")).value == "B"

    def test_equal_counts_are_a_tie_or_nothing(self):
        same = self.pair("Hike with the dog.", "Hike with the dog.")

        assert judge(self.criterion, same).value == "tie"
        without_tie = judge(spec("preference", "A", "B"), same)
        assert (without_tie.value, without_tie.unscored) == (None, "nothing_to_measure")


def test_a_criterion_without_a_rule_is_refused_before_and_during_a_run():
    unknown = spec("politeness", *FIVE)

    assert "no rule for politeness" in Baseline().check([unknown, spec("personalization", *FOUR)])[0]
    with pytest.raises(PermanentError, match="no rule for politeness"):
        judge(unknown, dialogue("Hello."))


def test_the_known_criteria_pass_the_check():
    assert Baseline().check([*(spec(key, *FIVE) for key in RULES), spec("any", "1", "2", "tie")]) == []


@pytest.mark.parametrize("key", sorted(RULES))
def test_it_says_the_same_every_time_and_survives_an_empty_dialogue(key):
    content, empty = dialogue("A Thai table.", "At eight?", "Thanks."), DialogueContent(turns=())

    assert judge(spec(key, *FIVE), content) == judge(spec(key, *FIVE), content)
    assert judge(spec(key, *FIVE), empty).unscored == "nothing_to_measure"


def test_chance_is_a_coin_of_its_own_for_each_item_order_and_repeat():
    pair = PairContent("Where to?", "By train.", "On foot.")
    asked = [
        JudgeRequest(f"item {at}", spec("preference", "A", "B"), pair, repeat, order)
        for at in range(50)
        for repeat in (1, 2)
        for order in ("AB", "BA")
    ]

    values = [chance(one, pair).value for one in asked]
    assert values == [chance(one, pair).value for one in asked]
    assert 80 < values.count("A") < 120  # 200 throws: 100, give or take 7
    assert values[0::2] != values[1::2], "the other order is another throw"
