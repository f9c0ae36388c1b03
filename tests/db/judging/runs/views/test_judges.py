"""alice researches, bob annotates, charlie is not signed in."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import pytest
from celery import current_app
from django.urls import reverse

from annotation.studies.criteria import TEMPLATES
from judging.assessment.services import rules
from judging.judges.models import Judge, Price, Quota
from judging.judges.prompts.templates import digest
from judging.runs.models.runs import JudgeRun
from tests.support import factories
from tests.support.judging import dialogue_study, judged, scripted
from tests.support.model_server import KEY, MODEL, running

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    monkeypatch.setattr(current_app, "send_task", lambda name, args, countdown=None: None)


@pytest.fixture
def alice(client):
    alice = factories.ResearcherFactory(username="alice")
    client.force_login(alice)
    return alice


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def addresses() -> list[str]:
    run = judged(dialogue_study(1), scripted())
    judge, judgment = run.judge, run.judgments.first()
    return [
        reverse("judge_create"),
        reverse("price_list"),
        reverse("judgment_detail", args=[judgment.pk]),
        *(reverse(name, args=[judge.pk]) for name in ("judge_detail", "judge_limits", "judge_delete")),
    ]


def test_bob_the_annotator_may_not_look(client):
    client.force_login(factories.UserFactory(username="bob"))

    assert {client.get(address).status_code for address in addresses()} == {403}


def test_charlie_is_asked_to_sign_in(client):
    assert all(client.get(address).url.startswith(reverse("login")) for address in addresses())


class TestJudge:
    def change(self, client, judge, **options):
        data = {"provider": judge.provider, "model": judge.model, "parameters": json.dumps(judge.parameters), **options}
        return client.post(reverse("judge_detail", args=[judge.pk]), data, follow=True)

    def test_a_new_one(self, client, alice):
        response = client.post(reverse("judge_create"), {"name": "words", "provider": "baseline"}, follow=True)

        judge = Judge.objects.get()
        assert (judge.name, judge.created_by) == ("words", alice)
        assert "Version 1 of 1" in text_of(response)

    def test_a_rule_for_pairs_is_a_model_of_the_baseline(self, client, alice):
        page = client.post(reverse("judge_create"), {"name": "long", "provider": "baseline", "models": "1"})
        assert "3 models: choose one in the field." in text_of(page)
        client.post(reverse("judge_create"), {"name": "long", "provider": "baseline", "model": "longer"})
        assert Judge.objects.get().model == "longer"

    @pytest.mark.parametrize(("provider", "is_asked"), [("anthropic", True), ("scorer", False), ("baseline", False)])
    def test_a_prompt_is_offered_to_those_that_are_asked_with_one(self, client, alice, provider, is_asked):
        page = client.get("/judges/new/", {"provider": provider}).content.decode()
        assert ("Prompt of your own" in page) is ("Show the prompt" in page) is is_asked

    def test_what_is_wrong_is_said_at_its_field(self, client, alice):
        response = client.post(
            reverse("judge_create"), {"name": "words", "provider": "baseline", "parameters": '{"speed": 1}'}
        )

        assert "speed" in response.context["form"].errors["parameters"][0]
        assert not Judge.objects.exists()

    def test_the_address_of_a_server_is_a_parameter_with_a_field_of_its_own(self, client, alice):
        data = {"name": "gpu", "provider": "openai_compatible", "model": "m", "base_url": "http://gpu1:8000/v1"}
        response = client.post(reverse("judge_create"), data, follow=True)

        judge = Judge.objects.get()
        assert judge.parameters == {"base_url": "http://gpu1:8000/v1", "temperature": 0.0}
        assert response.context["form"].initial["base_url"] == "http://gpu1:8000/v1"
        assert response.context["form"].initial["parameters"] is None
        assert response.context["form"].initial["p_temperature"] == 0.0

    @pytest.mark.parametrize(
        ("provider", "address", "message"),
        [
            ("baseline", "http://gpu1:8000/v1", "Only an OpenAI-compatible judge has an address."),
            ("openai_compatible", "gpu1:8000", "An address begins with http:// or https://."),
        ],
    )
    def test_a_wrong_address_is_said_at_its_field(self, client, alice, provider, address, message):
        data = {"name": "gpu", "provider": provider, "model": "m", "base_url": address}
        response = client.post(reverse("judge_create"), data)

        assert response.context["form"].errors == {"base_url": [message]}
        assert not Judge.objects.exists()

    def test_a_model_s_file_that_is_not_there_is_found_by_a_test(self, client, alice, tmp_path):
        data = {"name": "mine", "provider": "local", "model": str(tmp_path / "gone.gguf"), "test": "1"}
        response = client.post(reverse("judge_create"), data)

        assert "cannot be read" in response.context["form"].errors["provider"][0]

    def test_a_change_is_a_new_version_beside_the_old_one(self, client, alice):
        judge = factories.JudgeFactory(name="words", parameters={"concurrency": 2})

        response = self.change(client, judge, parameters='{"concurrency": 3}')

        second = Judge.objects.get(version=2)
        assert response.redirect_chain[-1][0] == reverse("judge_detail", args=[second.pk])
        text = text_of(response)
        assert "Compared with version 1" in text
        assert "changed" in text
        rows = {row["name"]: row for row in response.context["comparison"]}
        assert rows["concurrency"] == {"name": "concurrency", "this": "3", "other": "2", "differs": True}
        assert not rows["provider"]["differs"]

    def test_no_change_is_no_version(self, client, alice):
        judge = factories.JudgeFactory(parameters={"concurrency": 2})

        assert "Nothing was changed" in text_of(self.change(client, judge))
        assert Judge.objects.count() == 1

    def test_limits_hold_without_a_new_version(self, client, alice):
        judge = factories.JudgeFactory(provider="anthropic", model="m")
        data = {"daily_budget_usd": "2.5", "requests_per_minute": "50", "tokens_per_minute": ""}

        text = text_of(client.post(reverse("judge_limits", args=[judge.pk]), data, follow=True))

        assert "hold from now on" in text
        judge.refresh_from_db()
        assert judge.daily_budget_usd == 2.5
        assert Quota.objects.get().requests_per_minute == 50

    def test_a_limit_of_nothing_is_refused_and_nothing_is_set(self, client, alice):
        judge = factories.JudgeFactory()
        data = {"daily_budget_usd": "5", "requests_per_minute": "0"}

        text = text_of(client.post(reverse("judge_limits", args=[judge.pk]), data, follow=True))

        assert "at least 1" in text
        judge.refresh_from_db()
        assert judge.daily_budget_usd is None

    def test_one_that_never_ran_can_be_deleted(self, client, alice):
        judge = factories.JudgeFactory()

        client.post(reverse("judge_delete", args=[judge.pk]))

        assert not Judge.objects.exists()

    def test_one_that_runs_stays_and_says_why(self, client, alice):
        run = factories.JudgeRunFactory(study=dialogue_study(1))

        text = text_of(client.post(reverse("judge_delete", args=[run.judge.pk]), follow=True))

        assert "has 1 runs, 1 of them still going" in text
        assert JudgeRun.objects.exists()


class TestTemplate:
    OWN = "Rate $criterion on $scale.\n$conversation\nScore:"

    def post(self, client, **options):
        data = {"name": "Paper", "provider": "anthropic", "model": "claude-test", **options}
        return client.post(reverse("judge_create"), data)

    def test_a_preview_shows_a_real_item_and_saves_nothing(self, client, alice):
        study = dialogue_study(1)

        text = text_of(self.post(client, template=self.OWN, study=study.pk, preview="1"))

        assert "as it would be asked" in text
        assert "Book me a table." in text
        assert "Score:" in text
        assert not Judge.objects.exists()

    @pytest.mark.parametrize(
        ("template", "said"),
        [("Rate it.", "conversation"), ("$conversation $mood", "mood")],
        ids=["without", "unknown"],
    )
    @pytest.mark.parametrize("button", [{"preview": "1"}, {}], ids=["preview", "save"])
    def test_one_that_cannot_ask_is_refused_at_its_field(self, client, alice, template, said, button):
        response = self.post(client, template=template, study=dialogue_study(1).pk, **button)

        assert said in response.context["form"].errors["template"][0]
        assert not Judge.objects.exists()

    def test_a_preview_needs_a_study(self, client, alice):
        response = self.post(client, template=self.OWN, preview="1")

        assert "Choose the study" in response.context["form"].errors["study"][0]

    def test_it_is_part_of_what_the_judge_is(self, client, alice):
        self.post(client, template=self.OWN)
        judge = Judge.objects.get()
        assert judge.parameters == {"template": self.OWN, "temperature": 0.0}

        data = {"provider": "anthropic", "model": "claude-test", "template": f"{self.OWN} "}
        client.post(reverse("judge_detail", args=[judge.pk]), data)

        assert Judge.objects.filter(name="Paper").count() == 2

    def test_templates_by_criterion_are_shown_with_their_hash(self, client, alice):
        self.post(client, templates=json.dumps({"personalization": self.OWN}))
        judge = Judge.objects.get()
        page = text_of(client.get(reverse("judge_detail", args=[judge.pk])))

        assert judge.parameters["templates"] == {"personalization": self.OWN}
        assert f"replaced, {digest(self.OWN)}" in page
        assert page.count("Concord’s own, ") == len(TEMPLATES), "of the instruction and of the other criteria"

    @pytest.mark.parametrize("templates", ['["a"]', '{"personalization": 1}', "{"])
    def test_templates_that_are_no_texts_are_refused(self, client, alice, templates):
        assert "templates" in self.post(client, templates=templates).context["form"].errors


class TestPrices:
    def test_a_price_is_entered_and_replaced(self, client, alice):
        data = {"provider": "anthropic", "model": "claude-new", "valid_from": "2026-11-01", "input": "2", "output": "9"}

        client.post(reverse("price_list"), data)
        text = text_of(client.post(reverse("price_list"), {**data, "input": "3"}, follow=True))

        price = Price.objects.get()
        assert (price.input, price.valid_from, price.created_by) == (3, date(2026, 11, 1), alice)
        assert "claude-new" in text
        assert "$3.00" in text

    def test_it_can_be_taken_back(self, client, alice):
        price = Price.objects.create(provider="local", model="m", valid_from=date(2026, 1, 1), input=1, output=1)

        client.post(reverse("price_remove", args=[price.pk]))

        assert not Price.objects.exists()


class TestEstimate:
    def test_it_is_shown_before_anything_starts(self, client, alice, paid):
        Price.objects.create(provider="paid", model="m", valid_from=date(2026, 1, 1), input=5, output=50)
        study, judge = dialogue_study(3), factories.JudgeFactory(provider="paid", model="m")
        data = {"judge": judge.pk, "criteria": ["personalization"], "repeats": 2, "seed": 0, "estimate": "1"}

        text = text_of(client.post(reverse("run_create", args=[study.slug]), data))

        assert "What it would take" in text
        assert '<dt>Requests</dt> <dd dir="auto"> 6 </dd>' in text
        assert "about $0.0" in text
        assert not JudgeRun.objects.exists()
        assert not paid

    def test_an_unknown_price_leads_to_where_it_is_entered(self, client, alice, paid):
        study, judge = dialogue_study(1), factories.JudgeFactory(provider="paid", model="m")
        data = {"judge": judge.pk, "criteria": ["personalization"], "repeats": 1, "seed": 0, "estimate": "1"}

        text = text_of(client.post(reverse("run_create", args=[study.slug]), data))

        assert "price of this model is not known" in text
        assert reverse("price_list") in text

    @pytest.mark.parametrize("budget", ["0", "-1"])
    def test_a_budget_of_nothing_is_refused_at_its_field(self, client, alice, budget):
        study, judge = dialogue_study(1), scripted()
        data = {"judge": judge.pk, "criteria": ["personalization"], "repeats": 1, "seed": 0, "budget_usd": budget}

        response = client.post(reverse("run_create", args=[study.slug]), data)

        assert "above 0" in response.context["form"].errors["budget_usd"][0]
        assert not JudgeRun.objects.exists()


class TestRun:
    @pytest.mark.any_database
    def test_what_it_cost_and_why_it_stopped(self, client, alice, paid):
        Price.objects.create(provider="paid", model="m", valid_from=date(2026, 1, 1), input=5, output=50)
        run = judged(dialogue_study(3), factories.JudgeFactory(provider="paid", model="m"), budget_usd=Decimal("0.025"))

        text = text_of(client.get(reverse("run_detail", args=[run.pk])))

        assert "The run stopped itself" in text
        assert "$0.0200 of $0.0250" in text
        assert "2,000 read, 200 written" in text

        text = text_of(client.post(reverse("run_resume", args=[run.pk]), {"budget_usd": "0.02"}, follow=True))
        assert "give it a higher budget" in text
        text = text_of(client.post(reverse("run_resume", args=[run.pk]), {"budget_usd": "1"}, follow=True))
        assert "Going on with 1 part" in text

    @pytest.mark.any_database
    def test_judgments_of_edited_items_are_pointed_out(self, client, alice):
        run = judged(dialogue_study(2), scripted())
        dialogue = run.study.items.first().dialogue
        dialogue.content_hash = "f" * 64
        dialogue.save()

        text = text_of(client.get(reverse("run_detail", args=[run.pk])))

        assert "Items were edited after they were judged" in text
        assert run.judgments.stale().count() == 2
        assert "older text" in text_of(client.get(reverse("item_detail", args=[run.study.slug, 1])))
        assert "older text" not in text_of(client.get(reverse("item_detail", args=[run.study.slug, 2])))

    def test_unscored_replies_of_one_reason(self, client, alice):
        study = dialogue_study(2)
        shy = {study.items.first().external_id: {"stop": "refusal"}}
        run = judged(study, scripted(trouble=shy))

        response = client.get(reverse("run_detail", args=[run.pk]), {"reason": "refusal"})

        assert {said.reason for said in response.context["latest"]} == {"refused to answer"}


class TestJudgment:
    def test_all_that_led_to_it(self, client, alice, paid):
        Price.objects.create(provider="paid", model="m", valid_from=date(2026, 1, 1), input=5, output=50)
        study = dialogue_study(1)
        run = judged(study, factories.JudgeFactory(provider="paid", model="m"), criteria=["personalization"])
        judgment = run.judgments.get()
        annotator = factories.UserFactory(username="bob")
        slot = factories.AssignmentFactory(item=study.items.get(), submitted=True, annotator=annotator)
        factories.AnnotationFactory(assignment=slot, criterion=judgment.criterion, value="3", note="It knows her.")

        text = text_of(client.get(reverse("judgment_detail", args=[judgment.pk])))

        assert "Book me a table." in text, "the prompt"
        assert "so it is what was sent" in text
        assert "1,000" in text
        assert "$0.0100" in text
        assert "25.0 %" in text, "four values, equally probable"
        assert "2.50" in text, "their mean"
        assert "bob" in text
        assert "differs" in text
        assert "It knows her." in text

    def test_a_computed_one_has_no_prompt(self, client, alice):
        run = judged(dialogue_study(1), factories.JudgeFactory(provider="baseline"))

        text = text_of(client.get(reverse("judgment_detail", args=[run.judgments.first().pk])))

        assert "No prompt was sent." in text

    @pytest.mark.any_database
    def test_the_number_of_queries_does_not_grow(self, client, alice, django_assert_max_num_queries):
        study = dialogue_study(1)
        rules.lock(by=None, study=study)  # as the first look does
        counts = []
        for _ in range(2):
            run = judged(study, scripted(), repeats=3)
            with django_assert_max_num_queries(25) as queries:
                client.get(reverse("judgment_detail", args=[run.judgments.first().pk]))
            counts.append(len(queries))

        assert counts[0] == counts[1]


class TestTesting:
    """Whether a judge would answer, found out before the first item is paid for."""

    @pytest.fixture
    def server(self, monkeypatch):
        with running() as server:
            monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            yield server

    def tried(self, client, **options):
        data = {"name": "claude", "provider": "anthropic", "model": MODEL, "test": "1", **options}
        return client.post(reverse("judge_create"), data)

    def test_one_that_would_answer(self, client, alice, server):
        text = text_of(self.tried(client))

        assert "Anthropic takes the key and knows the model." in text
        assert not server.asked
        assert not Judge.objects.exists()

    def test_a_wrong_key(self, client, alice, server):
        server.key = "another"
        response = self.tried(client)

        assert response.context["form"].errors["provider"] == ["claude cannot run: Anthropic: 401 invalid x-api-key."]
        assert "Nothing stands in its way" not in text_of(response)

    def test_an_unknown_model(self, client, alice, server):
        assert "404 model: claude-0" in self.tried(client, model="claude-0").context["form"].errors["provider"][0]

    def test_a_server_that_is_not_there(self, client, alice):
        response = self.tried(client, provider="openai_compatible", base_url="http://127.0.0.1:9/v1")

        assert "No connection" in response.context["form"].errors["provider"][0]

    def test_a_key_that_is_not_set(self, client, alice, monkeypatch):
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

        assert "set ANTHROPIC_API_KEY" in self.tried(client).context["form"].errors["provider"][0]

    def test_a_judge_that_there_is(self, client, alice, server):
        judge = factories.JudgeFactory(provider="anthropic", model=MODEL)

        text = text_of(
            client.post(
                reverse("judge_detail", args=[judge.pk]), {"provider": "anthropic", "model": MODEL, "test": "1"}
            )
        )

        assert "Nothing stands in its way" in text
        assert Judge.objects.count() == 1

    def test_bedrock_is_not_said_to_have_been_asked(self, client, alice, monkeypatch):
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "key")
        text = text_of(self.tried(client, parameters='{"through": "bedrock", "region": "eu-central-1"}'))

        assert "Bedrock does not tell without being paid" in text

    def test_a_rule_needs_nothing(self, client, alice):
        assert "It is computed here, and nothing is missing." in text_of(
            self.tried(client, provider="baseline", model="")
        )
