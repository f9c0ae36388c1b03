"""From seeds to pairs with a model by script: every stage once, with its provenance, and what is left out counted."""

from __future__ import annotations

import json
import re

import pytest

from annotation.corpus.models import Profile, ResponsePair
from core.errors import InputError
from core.files.input_files import InputFile
from core.jobs import backoff
from simulation.agents import services as agents_services
from simulation.generation import queries
from simulation.generation.models import Candidate, CandidateRun, Conflict, Making
from simulation.generation.services import candidates, generation, seed_runs, worker_sessions
from simulation.generation.services.seed_runs import SeedPlan
from tests.support import seed_model
from tests.support.model_server import KEY, MODEL, Answer, Request, error, running
from tests.support.seed_model import BAD, kind_of

pytestmark = pytest.mark.django_db

LEVELS = ("none", "full")


@pytest.fixture
def model(monkeypatch):
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        server.by_default = seed_model.answer
        server.models = [MODEL, "judge"]
        yield server


def agent(name: str = MODEL):
    return agents_services.build_agent(
        side="assistant", provider="openai_compatible", model=name, parameters={"concurrency": 8, "max_retries": 0}
    )


def begun(n_seeds: int = 3, *, personas: int = 4, checker: str = "judge", **more) -> CandidateRun:
    numbers = {"specific": 2, "general": 1, "memories": 2, "against": (("full", "none"),)}
    plan = SeedPlan(seed_model.seeds(n_seeds), personas, **{**numbers, **more})
    judge = agent(checker) if checker else None
    return seed_runs.begin(
        by=None, name="Small", agent=agent(), checker=judge, plan=plan, levels=LEVELS, seed=1, queue=False
    )


def worked(run: CandidateRun) -> CandidateRun:
    for _ in seed_runs.work_through(run):
        pass
    run.refresh_from_db()
    return run


def told(run: CandidateRun) -> dict[str, dict[str, object]]:
    return {row["what"]: row for row in queries.report(run)}


@pytest.mark.long
def test_from_seeds_to_pairs_each_with_its_parents(model):
    run = worked(begun())
    assert (run.stage, run.problem) == ("done", "")
    rows = told(run)
    assert (rows["personas"]["n"], rows["questions"]["n"], rows["memories"]["n"]) == (4, 9, 8)
    assert rows["responses"]["n"] == rows["responses that pass the checks"]["n"] == 4 * 3 * 2
    assert ResponsePair.objects.filter(source="candidates").count() == 4 * 3
    # 4 personas with questions, memories, a check each; general questions; 9 responses + 1 shared; 12 looks
    n_full, n_none = 12, 8 + 1
    assert len(model.asked) == 4 + 4 * 3 + 1 + n_full + n_none + 12
    traits = run.plan["seeds"][0]["traits"]  # which persona is kept first hangs on whose reply comes first
    person = next(one for one in Profile.objects.filter(source="seeds") if one.demographics == traits)
    assert person.extra["parents"] == {"seed": "seed0"}
    assert person.extra["prompt"]
    assert person.extra["memories"]["prompt"]
    assert len(person.memories) == 2
    pair = ResponsePair.objects.filter(profile=person, kind="specific").first()
    question = Making.objects.get(pk=pair.extra["parents"]["question"])
    assert (question.kind, question.profile) == ("questions", person)
    assert pair.extra["parents"]["persona"] == person.extra["making"]
    assert len(set(pair.extra["prompts"])) == 2
    assert begun() == run, "the same order again is the same run"
    assert worked(run).stage == "done"
    assert len(model.asked) == 4 + 4 * 3 + 1 + n_full + n_none + 12


def test_a_stage_is_ordered_once_whoever_comes_first(model):
    run = begun()
    for _ in worker_sessions.work_through(list(run.makings.all())):
        pass
    assert seed_runs.advance(run.pk, queue=False)
    n = run.makings.count()
    assert not seed_runs.advance(run.pk, queue=False), "its orders are not over"
    assert run.makings.count() == n


@pytest.mark.long
def test_what_is_left_out_is_counted_with_its_reason(model):
    """A persona whose facts contradict, the same persona twice, a question twice, bad replies, a bad response."""
    stumbles = iter(["empty", "refusal", "prompt", "language"])

    def reply(request):
        prompt = request.body["messages"][0]["content"]
        kind = kind_of(prompt)
        if kind == "none" and len(request.body["messages"]) == 1 and (bad := next(stumbles, None)):
            return Answer(text=BAD[bad])
        said = seed_model.reply(request)
        if kind == "persona" and re.search("- age: 2[12]", prompt, re.IGNORECASE):
            twins.append(request)
            said = seed_model.reply(twins[0])  # whichever comes first
        if kind == "responses" and "full" in said and not used:
            used.append(prompt)
            said = said.replace('"answers": true', '"answers": false', 1)
        return Answer(text=said)

    used: list[str] = []
    twins: list[Request] = []
    model.by_default = reply
    run = begun(6, personas=6)
    run.plan["seeds"][0]["traits"]["dish"] = "steak"
    Making.objects.filter(pk=run.makings.first().pk).update(
        asked={**run.makings.first().asked, "traits": {**run.plan["seeds"][0]["traits"]}}
    )
    run = worked(run)
    assert run.stage == "done"
    rows = told(run)
    assert rows["personas"]["left_out"] == {"nearly the same as another": 1}
    assert rows["personas without conflicts"]["left_out"] == {"facts in conflict": 1}
    assert rows["responses that pass the checks"]["left_out"] == {"does not answer the question": 1}
    unfit = queries.unfit(run)
    assert sum(unfit.values()) == 4
    assert {reason.removeprefix("candidates: reply ") for reason in unfit} == {
        "is empty",
        "is a refusal",
        "repeats its prompt",
        "is in Han letters, and Latin ones were asked for",
    }
    assert not Candidate.objects.filter(text__in=[text.strip() for text in BAD.values()]).exists()


@pytest.mark.any_database
@pytest.mark.long
def test_texts_that_are_nearly_the_same_go_no_further(model):
    model.by_default = lambda request: Answer(
        text=seed_model.reply(model.asked[0] if kind_of(request.prompt) == "persona" else request)
    )
    run = worked(begun(3, personas=3))
    assert told(run)["personas"] == {"what": "personas", "n": 1, "left_out": {"nearly the same as another": 2}}
    assert run.stage == "done"


@pytest.mark.any_database
@pytest.mark.long
def test_a_judge_that_is_away_halfway_holds_the_run_up_and_it_goes_on_later(model, monkeypatch):
    for name in ("FIRST_WAIT", "LONGEST_WAIT"):
        monkeypatch.setattr(backoff, name, 0.01)
    monkeypatch.setattr(worker_sessions, "PAUSE", 0.01)
    asked_of_judge = []

    def reply(request):
        if request.body["model"] == "judge" and kind_of(request.body["messages"][0]["content"]) == "responses":
            asked_of_judge.append(request)
            if len(asked_of_judge) > 3:
                return error(529, "overloaded_error", "Overloaded")
        return seed_model.answer(request)

    model.by_default = reply
    run = worked(begun())
    assert run.stage == "checks"
    assert "orders could not be worked on" in run.problem
    assert len(asked_of_judge) <= 3 + 8 * worker_sessions.MOST_ATTEMPTS
    n = Candidate.objects.count()
    model.by_default = seed_model.answer
    assert candidates.resume(by=None, run=run) == 9
    run = worked(CandidateRun.objects.get())
    assert (run.stage, run.problem, Candidate.objects.count()) == ("done", "", n)
    assert ResponsePair.objects.count() == 12


def test_when_nobody_is_left_the_run_says_why(model):
    model.by_default = lambda request: Answer(text="I'm sorry, but I can't help with that.")
    run = worked(begun(2, personas=2))
    assert run.stage == "personas"
    assert run.problem == "Nothing is left to go on with: personas: 2 failed."


@pytest.mark.long
def test_personas_that_all_conflict_wait_for_a_person(model):
    found = {"label": "Odd", "explanation": "It does not fit.", "fields": ["Demographics: diet"]}

    def reply(request):
        is_check = kind_of(request.body["messages"][0]["content"]) == "conflicts"
        return Answer(text=json.dumps({"conflicts": [found]})) if is_check else seed_model.answer(request)

    model.by_default = reply
    run = worked(begun(2, personas=2))
    assert run.stage == "details"
    assert run.problem == "Nothing is left to go on with: personas without conflicts: 2 facts in conflict."

    for conflict in Conflict.objects.all():
        generation.decide(by=None, conflict=conflict, decision="none")
    candidates.resume(by=None, run=run)
    run = worked(CandidateRun.objects.get())
    assert (run.stage, run.problem) == ("done", "")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"personas": 0}, "personas"),
        ({"specific": 0, "general": 0}, "specific"),
        ({"against": (("full", "over"),)}, "against"),
        ({"against": (("full", "full"),)}, "against"),
        ({"seeds": []}, "seeds"),
        ({"seeds": [{"id": "1", "traits": {"diet": ""}}]}, "seeds"),
    ],
)
def test_what_no_benchmark_comes_of_is_refused(change, field):
    plan = SeedPlan(**{"seeds": seed_model.seeds(2), "personas": 2, "against": (("full", "none"),), **change})
    with pytest.raises(InputError) as caught:
        seed_runs.begin(
            by=None,
            name="Small",
            agent=agents_services.build_agent(side="assistant", provider="scripted"),
            plan=plan,
            levels=LEVELS,
            queue=False,
        )
    assert caught.value.field == field
    assert not CandidateRun.objects.exists()


def test_seeds_without_traits_are_refused_or_counted(tmp_path):
    path = tmp_path / "seeds.jsonl"
    lines = [{"id": 1, "traits": {"diet": "vegan"}}, {"id": 2, "traits": {}}, {"id": 3}, {"id": 4, "traits": {"a": ""}}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match="line 2, field traits"):
        seed_runs.read_seeds(InputFile.from_path(path))
    found, left_out = seed_runs.read_seeds(InputFile.from_path(path), on_error="skip")
    assert [one["id"] for one in found] == ["1"]
    assert sum(left_out.values()) == 3
