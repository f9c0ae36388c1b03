"""Equal requests within a run: one is asked, and the others get its answer."""

from __future__ import annotations

import pytest

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers.base import Reply
from judging.runs.services import batches
from judging.runs.services.request_pool import Answer, Ask, RequestCoalescing
from tests.support import factories
from tests.support.judging import judged
from tests.support.paid import Paid

pytestmark = pytest.mark.django_db

TURNS = [{"role": "user", "content": "A table."}, {"role": "assistant", "content": "At eight?"}]


def study_of(n_alike: int, n_others: int = 0, *, same_hash: bool = True):
    """Items whose dialogues say the same, and some that say something else."""
    study, scenario = factories.StudyFactory(), factories.ScenarioFactory()
    factories.CriterionFactory(study=study, key="personalization")
    for _ in range(n_others):
        factories.ItemFactory(study=study)
    for n in range(n_alike):
        text_hash = "a" * 64 if same_hash else f"{n:x}" * 64
        dialogue = factories.DialogueFactory(scenario=scenario, turns=TURNS, content_hash=text_hash)
        factories.ItemFactory(study=study, dialogue=dialogue)
    return study


def judge(**parameters):
    return factories.JudgeFactory(provider="paid", model="m", parameters={"concurrency": 8, **parameters})


@pytest.mark.parametrize("same_hash", [True, False], ids=["the same hash", "the same text under two hashes"])
def test_items_of_the_same_text_are_asked_about_once(paid, same_hash):
    run = judged(study_of(4, 1, same_hash=same_hash), judge(delay=0.02))

    assert len(paid) == 2
    assert run.judgments.count() == 5
    assert run.judgments.filter(details__cached=True).count() == 3
    assert set(run.judgments.filter(details__cached=True).values_list("cost_usd", "input_tokens")) == {(0, None)}


def test_also_where_they_stand_in_different_places_of_a_long_run(paid, monkeypatch):
    monkeypatch.setattr(batches, "ITEMS_PER_PART", 2)
    study = study_of(1, 3)
    scenario = study.items.last().dialogue.scenario
    last = factories.DialogueFactory(scenario=scenario, turns=TURNS, content_hash="a" * 64)
    factories.ItemFactory(study=study, dialogue=last)

    run = judged(study, judge())

    assert (len(paid), run.judgments.count()) == (4, 5)


def test_repeats_stay_answers_of_their_own(paid):
    run = judged(study_of(3), judge(), repeats=2)

    assert (len(paid), run.judgments.count()) == (2, 6)


def test_who_asks_anew_asks_about_every_item(paid):
    run = judged(study_of(3), judge(), use_cache=False)

    assert (len(paid), run.judgments.count()) == (3, 3)


def test_an_error_that_would_come_again_is_not_asked_for_again(paid, monkeypatch):
    async def refuse(self, request):
        paid.append(request)
        raise PermanentError("no such model")

    monkeypatch.setattr(Paid, "judge", refuse)

    run = judged(study_of(3), judge())

    assert (len(paid), run.judgments.count(), run.state) == (1, 0, "finished")
    assert run.chunks.get().error == "no such model"


class TestAlone:
    """What becomes of those that wait, without a database."""

    def waiting(self):
        """Three equal requests, the last of another part, of which the first is on its way."""
        asks = [Ask(None, part, "key") for part in (1, 1, 2)]  # type: ignore[arg-type]
        followers = RequestCoalescing(together=True)
        assert [followers.join(ask) for ask in asks] == [False, True, True]
        return followers, asks

    def test_an_answer_is_theirs_too(self):
        followers, asks = self.waiting()

        equal, next_ones = followers.release([Answer(asks[0], Reply(text="x"), latency_ms=5)])

        assert [(answer.ask, answer.cached, answer.latency_ms) for answer in equal] == [
            (asks[1], True, 0),
            (asks[2], True, 0),
        ]
        assert next_ones == []

    def test_a_fault_that_may_pass_is_not(self):
        followers, asks = self.waiting()

        equal, next_ones = followers.release([Answer(asks[0], None, TransientError("later"))])

        assert (equal, next_ones) == ([], [asks[1]])

    def test_where_the_first_is_dropped_the_next_one_goes(self):
        followers, asks = self.waiting()

        assert followers.drop([asks[0]], lambda ask: ask.part == 1) == (1, [asks[2]])

    def test_requests_without_a_key_are_on_their_own(self):
        followers = RequestCoalescing(together=True)

        assert not any(followers.join(Ask(None)) for _ in range(2))  # type: ignore[arg-type]
