"""alice researches, bob annotates, charlie is not signed in."""

from __future__ import annotations

import re

import pytest
from celery import current_app
from django.urls import reverse
from django.utils import timezone

from judging.judges.models import Judge
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeRun
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, response_study, scripted
from tests.support.labelled import judge_says, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """The parts whose messages would have gone to the broker."""
    messages = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, countdown=None: messages.extend(args))
    return messages


@pytest.fixture
def alice(client):
    alice = factories.ResearcherFactory(username="alice")
    client.force_login(alice)
    return alice


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


class TestAccess:
    def addresses(self) -> list[str]:
        run = factories.JudgeRunFactory(study=dialogue_study(1))
        names = ["run_detail", "run_progress", "run_stop", "run_resume"]
        return [
            reverse("judge_list"),
            reverse("run_create", args=[run.study.slug]),
            *(reverse(name, args=[run.pk]) for name in names),
        ]

    def test_bob_the_annotator_may_not_look(self, client):
        client.force_login(factories.UserFactory(username="bob"))

        assert {client.get(address).status_code for address in self.addresses()} == {403}

    def test_charlie_is_asked_to_sign_in(self, client):
        for address in self.addresses():
            assert client.get(address).url.startswith(reverse("login"))

    @pytest.mark.parametrize("name", ["run_stop", "run_resume"])
    def test_nothing_changes_by_following_a_link(self, client, alice, name):
        run = factories.JudgeRunFactory()

        assert client.get(reverse(name, args=[run.pk])).status_code == 405


class TestJudgeList:
    def test_an_empty_list_says_what_will_be_here(self, client, alice):
        assert "Judges will be listed here" in text_of(client.get(reverse("judge_list")))

    def test_judges_and_their_runs(self, client, alice):
        judge = factories.JudgeFactory(name="words", parameters={"concurrency": 2})
        run = factories.JudgeRunFactory(judge=judge, study=dialogue_study(1), finished_at=timezone.now())

        text = text_of(client.get(reverse("judge_list")))

        assert "words" in text
        assert "baseline judge" in text
        assert "concurrency: 2" in text
        assert reverse("run_detail", args=[run.pk]) in text
        assert "No worker" not in text

    def test_a_waiting_run_without_a_worker_is_pointed_out(self, client, alice):
        factories.JudgeRunFactory()

        assert "No worker is running" in text_of(client.get(reverse("judge_list")))
        factories.WorkerFactory(slots=2)
        assert "No worker is running" not in text_of(client.get(reverse("judge_list")))

    @pytest.mark.each_database
    def test_the_number_of_queries_does_not_grow(self, client, alice, django_assert_max_num_queries):
        for _ in range(5):
            judged(dialogue_study(1), scripted())

        with django_assert_max_num_queries(5):
            client.get(reverse("judge_list"))


class TestStartingARun:
    def data(self, **options) -> dict:
        return {"criteria": ["personalization", "task_completion"], "repeats": 1, "seed": 0, **options}

    def post(self, client, study, **options):
        return client.post(reverse("run_create", args=[study.slug]), self.data(**options))

    def test_a_new_baseline_judge(self, client, alice, sent, django_capture_on_commit_callbacks):
        study = dialogue_study(2)

        with django_capture_on_commit_callbacks(execute=True):
            response = self.post(client, study, name="words", provider="baseline")

        run = JudgeRun.objects.get()
        assert response.url == reverse("run_detail", args=[run.pk])
        assert (run.judge.name, run.judge.created_by, run.created_by) == ("words", alice, alice)
        assert sent == [run.chunks.get().pk]

    def test_the_form_offers_what_the_study_can_be_judged_by(self, client, alice):
        mixed = response_study(1)
        factories.CriterionFactory(study=mixed, key="preference", preference=True)
        offered = {}
        for name, study in (
            ("dialogues", dialogue_study(1)),
            ("pairs", pair_study(1)),
            ("responses", response_study(1)),
            ("mixed", mixed),
        ):
            page = text_of(client.get(reverse("run_create", args=[study.slug])))
            radios = re.findall(r'<input type="radio" name="unit" value="(\w+)"[^>]*?( checked)?>', page)
            offered[name] = [f"{unit}{checked}" for unit, checked in radios]
        assert offered == {
            "dialogues": ["item checked", "turn"],
            "pairs": [],
            "responses": ["item", "response checked"],
            "mixed": ["item checked", "response"],
        }

    def test_every_response(self, client, alice):
        study, judge = response_study(2), scripted(answers={"helpful": "3", "correct": "yes"})

        self.post(client, study, judge=judge.pk, criteria=["helpful", "correct"], unit="response")

        run = JudgeRun.objects.get()
        assert (run.unit, run.criteria.count()) == ("response", 2)

    def test_both_orders_of_a_response_alone_are_refused_at_their_field(self, client, alice):
        study, judge = response_study(2), scripted()

        page = self.post(client, study, judge=judge.pk, criteria=["helpful"], unit="response", order_policy="both")

        assert "Each response is shown alone, so there are no two orders." in text_of(page)
        assert page.context["form"].errors.keys() == {"order_policy"}

    def test_every_turn(self, client, alice):
        self.post(client, dialogue_study(1), judge=scripted().pk, unit="turn")

        assert JudgeRun.objects.get().unit == "turn"

    def test_a_known_judge_on_chosen_criteria(self, client, alice):
        study, judge = dialogue_study(2), scripted()

        self.post(client, study, judge=judge.pk, criteria=["task_completion"], repeats=3, seed=9)

        run = JudgeRun.objects.get()
        assert (run.judge, run.repeats, run.seed) == (judge, 3, 9)
        assert [criterion.key for criterion in run.criteria.all()] == ["task_completion"]

    def test_in_bulk_is_for_judges_that_take_batches(self, client, alice):
        study, judge = dialogue_study(1), scripted()

        text = text_of(self.post(client, study, judge=judge.pk, in_bulk="on"))

        assert "A judge of provider scripted takes no batches." in text
        assert not JudgeRun.objects.exists()

    def test_a_name_means_a_new_judge_whatever_is_chosen(self, client, alice):
        study, known = dialogue_study(1), scripted()

        self.post(client, study, judge=known.pk, name="words", provider="baseline")

        assert JudgeRun.objects.get().judge.name == "words"

    def test_a_new_judge_without_a_name_is_not_overlooked(self, client, alice):
        response = self.post(client, dialogue_study(1), judge=scripted().pk, model="claude-test")

        assert response.context["form"].errors["name"] == ["A new judge needs a name."]
        assert response.context["form"].is_new

    def test_empty_parameters_are_shown_empty(self, client, alice):
        study = dialogue_study(1)

        assert "null" not in str(client.get(reverse("run_create", args=[study.slug])).context["form"]["parameters"])
        again = self.post(client, study, name="words", provider="baseline", repeats=0, parameters="")
        assert "null" not in str(again.context["form"]["parameters"])

    def test_pairs_have_an_order(self, client, alice):
        study = pair_study(1)

        assert "Order of the responses" in text_of(client.get(reverse("run_create", args=[study.slug])))
        self.post(client, study, judge=scripted().pk, criteria=["preference"], order_policy="both")

        assert JudgeRun.objects.get().order_policy == "both"

    def test_dialogues_have_none(self, client, alice):
        study = dialogue_study(1)

        assert "Order of the responses" not in text_of(client.get(reverse("run_create", args=[study.slug])))

    def test_a_missing_key_is_said_at_the_provider_and_nothing_is_saved(self, client, alice, monkeypatch):
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

        response = self.post(client, dialogue_study(1), name="claude", provider="anthropic", model="claude-test")

        assert "no API key: set ANTHROPIC_API_KEY" in response.context["form"].errors["provider"][0]
        assert response.status_code == 200
        assert not JudgeRun.objects.exists()
        assert not Judge.objects.exists()

    def test_a_missing_key_of_a_known_judge_is_said_at_the_judge(self, client, alice, monkeypatch):
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        judge = factories.JudgeFactory(provider="anthropic", model="claude-test")

        response = self.post(client, dialogue_study(1), judge=judge.pk)

        assert "no API key" in response.context["form"].errors["judge"][0]

    @pytest.mark.parametrize(
        ("options", "field", "message"),
        [
            ({}, "name", "Choose a judge above, or name a new one."),
            ({"name": "words", "provider": "oracle"}, "provider", "oracle is not one of the available choices"),
            ({"name": "words", "provider": "baseline", "parameters": "{nonsense"}, "parameters", "not JSON"),
            ({"name": "words", "provider": "baseline", "parameters": "[1]"}, "parameters", "a JSON object"),
            ({"name": "words", "provider": "baseline", "parameters": '{"speed": 1}'}, "parameters", "speed"),
            ({"name": "words", "provider": "baseline", "repeats": 0}, "repeats", "greater than or equal to 1"),
            ({"name": "words", "provider": "baseline", "criteria": []}, "criteria", "required"),
            ({"judge": 99}, "judge", "not one of the available choices"),
        ],
    )
    def test_what_is_wrong_is_said_at_its_field(self, client, alice, options, field, message):
        response = self.post(client, dialogue_study(1), **options)

        assert message in response.context["form"].errors[field][0]
        assert not JudgeRun.objects.exists()

    def test_a_study_without_items_says_so(self, client, alice):
        response = self.post(client, dialogue_study(0), judge=scripted().pk)

        assert "No items to judge yet" in text_of(response)

    def test_imported_judges_and_old_versions_are_not_offered(self, client, alice):
        factories.JudgeFactory(name="theirs", provider="imported")
        factories.JudgeFactory(name="mine", version=1)
        factories.JudgeFactory(name="mine", version=2)

        response = client.get(reverse("run_create", args=[dialogue_study(1).slug]))

        assert [str(judge) for judge in response.context["form"].fields["judge"].queryset] == ["mine v2"]

    def test_names_from_outside_are_escaped(self, client, alice):
        scripted()
        Judge.objects.update(name="<script>alert(1)</script>")

        response = client.get(reverse("run_create", args=[dialogue_study(1).slug]))

        assert "<script>alert" not in response.content.decode()


class TestOneRun:
    def test_a_finished_run(self, client, alice):
        study = dialogue_study(2)
        first = study.items.first().external_id
        run = judged(study, scripted(trouble={first: {"text": "<b>never</b>"}}))

        text = text_of(client.get(reverse("run_detail", args=[run.pk])))

        assert "finished" in text
        assert "4 of 4 · 100 %" in text
        assert "2 no verdict could be read" in text
        assert "&lt;b&gt;never&lt;/b&gt;" in text
        assert "hx-get" not in text, "nothing moves any more"
        assert "Stop the run" not in text

    def test_a_running_run_asks_for_its_progress_and_can_be_stopped(self, client, alice):
        run = factories.JudgeRunFactory(study=dialogue_study(1))
        factories.JudgeChunkFactory(run=run)

        text = text_of(client.get(reverse("run_detail", args=[run.pk])))

        assert f'hx-get="{reverse("run_progress", args=[run.pk])}"' in text
        assert "every 2s" in text
        assert "Stop the run" in text
        assert "Refresh" in text
        assert "make worker" in text

    def test_the_part_that_moves(self, client, alice):
        run = factories.JudgeRunFactory(study=dialogue_study(1))
        factories.JudgeChunkFactory(run=run, worker=factories.WorkerFactory(slots=0))
        factories.JudgmentFactory(run=run, item=run.study.items.get())

        response = client.get(reverse("run_progress", args=[run.pk]), headers={"HX-Request": "true"})

        text = text_of(response)
        assert text.startswith("<section")
        assert "1 of 2 · 50 %" in text
        assert "1 in work" in text
        assert "No worker" not in text

    def test_batches_that_are_out_are_shown(self, client, alice):
        run = factories.JudgeRunFactory(study=dialogue_study(1), in_bulk=True)
        part = factories.JudgeChunkFactory(run=run)
        JudgeBatch.objects.create(chunk=part, n_requests=1, closed_at=timezone.now(), error="1 of the batch: expired")
        JudgeBatch.objects.create(chunk=part, n_requests=1200, external_id="msgbatch_1")

        text = text_of(client.get(reverse("run_detail", args=[run.pk])))

        assert "1,200 requests in 1 open batch" in text
        assert "1 batch: 1 of the batch: expired" in text
        assert "through the batch API" in text

    def test_when_it_is_over_the_page_is_loaded_again(self, client, alice):
        run = factories.JudgeRunFactory(finished_at=timezone.now())

        response = client.get(reverse("run_progress", args=[run.pk]), headers={"HX-Request": "true"})

        assert response.headers["HX-Refresh"] == "true"

    def test_without_a_script_the_part_is_the_page(self, client, alice):
        run = factories.JudgeRunFactory()

        assert client.get(reverse("run_progress", args=[run.pk])).url == reverse("run_detail", args=[run.pk])

    def test_errors_are_shown_with_what_they_wait_for(self, client, alice):
        run = factories.JudgeRunFactory(study=dialogue_study(1))
        factories.JudgeChunkFactory(run=run, error="429 Slow <down>.", queued_at=timezone.now())
        factories.JudgeChunkFactory(run=run, error="401 Wrong key.", finished_at=timezone.now())

        text = text_of(client.get(reverse("run_detail", args=[run.pk])))

        assert "1 part will be tried again" in text
        assert "429 Slow &lt;down&gt;." in text
        assert "1 part ended early" in text

    def test_stop_and_go_on(self, client, alice, sent, django_capture_on_commit_callbacks):
        run = factories.JudgeRunFactory(study=dialogue_study(1), judge=scripted())
        part = factories.JudgeChunkFactory(run=run)

        text = text_of(client.post(reverse("run_stop", args=[run.pk]), follow=True))
        assert "What was judged is kept" in text
        assert "stopped" in text
        assert "Go on with the rest" in text

        with django_capture_on_commit_callbacks(execute=True):
            text = text_of(client.post(reverse("run_resume", args=[run.pk]), follow=True))
        assert "Going on with 1 part of the run." in text
        assert sent == [part.pk]
        run.refresh_from_db()
        assert run.state == "running"

    def test_stopping_twice_is_no_error(self, client, alice):
        run = factories.JudgeRunFactory(finished_at=timezone.now())

        assert "over already" in text_of(client.post(reverse("run_stop", args=[run.pk]), follow=True))

    def test_going_on_with_a_judge_that_lost_its_key(self, client, alice, monkeypatch):
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        judge = factories.JudgeFactory(provider="anthropic", model="claude-test")
        run = factories.JudgeRunFactory(study=dialogue_study(1), judge=judge, stopped_at=timezone.now())

        assert "no API key" in text_of(client.post(reverse("run_resume", args=[run.pk]), follow=True))

    def test_a_run_that_is_not_there(self, client, alice):
        assert client.get(reverse("run_detail", args=[4711])).status_code == 404

    def test_the_number_of_queries_does_not_grow(self, client, alice, django_assert_max_num_queries):
        counts = []
        for n_items in (1, 6):
            run = judged(dialogue_study(n_items), scripted())
            with django_assert_max_num_queries(27) as queries:
                client.get(reverse("run_detail", args=[run.pk]))
            counts.append(len(queries))

        assert counts[0] == counts[1]


def test_an_imported_run_does_not_know_in_which_order_pairs_were_shown(client):
    client.force_login(factories.ResearcherFactory())
    criterion = factories.CriterionFactory(study=with_items(2, kind="pair"), key="preference", preference=True)
    run = judge_says(criterion, "gpt", ["1", "2"])
    shown = text_of(client.get(reverse("run_detail", args=[run.pk])))
    assert "not recorded" in shown
    both = judge_says(criterion, "local", ["1", "2"], provider="local")
    assert both.order_in_words == "one order, drawn per item"
