"""Candidates ordered from a scripted model or imported, and pairs made of their levels."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models import ResponsePair
from core.errors import InputError
from simulation.agents import services as agents_services
from simulation.agents.prompts.generation import LEVELS, candidate, persona
from simulation.generation.models import Candidate, Making
from simulation.generation.services import candidates, worker_sessions
from simulation.generation.services.candidates import Question
from simulation.stats.pairing import PairRule, Response, pairs
from tests.support.factories import ProfileFactory

pytestmark = pytest.mark.django_db

LINES = {
    "candidate none": ["Cook what you like."],
    "candidate generic": ["People of your age often cook pasta."],
    "candidate full": ["Make the green curry that you like so much."],
    "candidate over": ["As a Thai-loving hiker called Mei who is thirty, cook curry on your hike."],
}


@pytest.fixture
def profile():
    return ProfileFactory(external_id="mei", name="Mei", memories=["She hikes."], demographics={"age": 30})


def scripted(**lines):
    """A speaker whose words depend on the step."""
    by_step = {key: [text] for key, text in lines.items()} or LINES
    return agents_services.build_agent(
        side="assistant", provider="scripted", model="s", parameters={"by_dialogue": by_step, "otherwise": ""}
    )


def test_one_candidate_for_each_level_with_who_and_how(profile):
    (order,) = candidates.order(by=None, agent=scripted(), questions=[Question(profile, "What to cook?")], queue=False)
    worker_sessions.make(order.pk)
    order.refresh_from_db()
    assert (order.state, order.problem) == ("done", "")
    found = {one.level: one for one in Candidate.objects.all()}
    assert set(found) == set(LEVELS)
    assert {level: one.text for level, one in found.items()} == {key.split()[1]: v[0] for key, v in LINES.items()}
    assert (found["full"].provider, found["full"].model, found["full"].making) == ("scripted", "s", order)
    assert len({one.prompt_hash for one in found.values()}) == 4
    told = candidates.progress([order])
    assert (told["done"], told["candidates"], told["replies"]) == (1, 4, 4)


def test_only_the_level_none_is_told_nothing(profile):
    known = {"name": "Mei", "demographics": {"age": 30}, "memories": ["She hikes."]}
    asked = {level: candidate(level, "What to cook?", known).messages[0].content for level in LEVELS}
    assert "Mei" not in asked["none"]
    assert all("She hikes." in asked[level] for level in ("generic", "full", "over"))
    assert len({text.split("What to cook?")[0] for text in asked.values()}) == 4
    assert persona({"memories": [], "name": ""}) == "(nothing is known)"


def test_what_was_ordered_is_not_ordered_or_paid_again(profile):
    asked = [Question(profile, "What to cook?")]
    first = candidates.order(by=None, agent=scripted(), questions=asked, queue=False)
    again = candidates.order(by=None, agent=scripted(), questions=asked, queue=False)
    assert first == again
    worker_sessions.make(first[0].pk)
    worker_sessions.make(first[0].pk)
    assert Candidate.objects.count() == 4
    assert len(Making.objects.get().replies) == 4
    candidates.order(by=None, agent=scripted(), questions=asked, levels=["full"], queue=False)
    assert Making.objects.count() == 2


def test_an_interrupted_order_goes_on_where_it_stopped(profile):
    (order,) = candidates.order(by=None, agent=scripted(), questions=[Question(profile, "What?")], queue=False)
    Making.objects.filter(pk=order.pk).update(
        parts={"candidate none": "kept words"},
        replies=[{"step": "candidate none", "prompt": "p", "text": "kept words"}],
    )
    worker_sessions.make(order.pk)
    assert Candidate.objects.get(level="none").text == "kept words"
    assert len(Making.objects.get().replies) == 4


def test_an_empty_reply_is_asked_for_again_and_then_refused(profile):
    agent = scripted(**{"candidate none": ""})
    (order,) = candidates.order(
        by=None, agent=agent, questions=[Question(profile, "What?")], levels=["none"], queue=False
    )
    worker_sessions.make(order.pk)
    order.refresh_from_db()
    assert order.state == "failed"
    assert "reply: is empty (asked 3 times)" in order.problem
    assert not Candidate.objects.exists()


def write(path, *rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def row(level="full", text="Curry.", **more):
    return {"profile_id": "mei", "question": "What to cook?", "level": level, "text": text, **more}


def test_candidates_from_a_file(profile, tmp_path):
    path = write(tmp_path / "c.jsonl", row(), row("none", "Food.", model="gpt", batch=7))
    assert candidates.load(by=None, path=path).to_document()["created"] == {"candidates": 2}
    assert candidates.load(by=None, path=path).to_document()["unchanged"] == {"candidates": 2}
    other = Candidate.objects.get(level="none")
    assert (other.provider, other.model, other.extra) == ("imported", "gpt", {"batch": 7})


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row("much"), "line 2, field level: should be 'none', 'generic', 'full' or 'over'"),
        (row(text=""), "line 2, field text: is empty"),
        ({**row(), "profile_id": "nobody"}, "line 2, field profile_id: there is no profile 'nobody'"),
    ],
)
def test_a_bad_candidate_names_file_line_and_field(profile, tmp_path, bad, message):
    path = write(tmp_path / "c.jsonl", row("none"), bad)
    with pytest.raises(InputError) as caught:
        candidates.load(by=None, path=path)
    assert f"{path}, {message}" in str(caught.value)
    assert not Candidate.objects.exists()
    assert len(candidates.load(by=None, path=path, on_error="skip").to_document()["skipped"]) == 1
    assert Candidate.objects.count() == 1


def responses(*texts, question="q?"):
    return [Response(f"{level}{k}", ("p", question), level, text) for k, (level, text) in enumerate(texts)]


def test_levels_against_each_other_and_what_is_left_out():
    long = "A long answer about the green curry that this person likes, with the rice that goes with it and a salad."
    found = responses(
        ("full", long), ("none", "No."), ("none", long + "!"), ("none", long), ("over", f"- {long[::-1]}")
    )
    made = pairs(found, PairRule((("full", "none"),), length=0.5, each=0))
    assert made.pairs == ()
    assert made.left_out["same texts"] == made.left_out["nearly the same"] == made.left_out["unlike in length"] == 1
    made = pairs(found, PairRule((("full", "over"),), same_form=True))
    assert (made.pairs, made.left_out["unlike in form"]) == ((), 1)
    (pair,) = pairs(found, PairRule((("full", "over"),))).pairs
    assert {pair.first.level, pair.second.level} == {"full", "over"}


def test_near_duplicates_of_a_question_are_one_pair():
    base = "A long answer about the green curry that this person likes, with the rice that goes with it and a salad."
    other = "Something else altogether: soup of the day, bread and butter, and a glass of cold water for everybody."
    found = responses(("full", base), ("full", base + "!"), ("none", other))
    made = pairs(found, PairRule((("full", "none"),), each=0))
    assert len(made.pairs) == 1
    assert made.left_out["pair is there already"] == 1


def test_sides_are_drawn_with_the_seed_and_about_even():
    found = [
        one for k in range(200) for one in responses(("full", f"curry number {k}"), ("none", "bread"), question=f"{k}")
    ]
    made = pairs(found, PairRule((("full", "none"),), seed=1)).pairs
    assert pairs(found, PairRule((("full", "none"),), seed=1)).pairs == made
    # 200 fair draws: 100 and, within four standard errors of 7.1, 72 to 128
    assert 72 <= sum(pair.first.level == "full" for pair in made) <= 128
    assert pairs(found, PairRule((("full", "none"),), seed=2)).pairs != made


def test_pairs_become_material_once(profile, tmp_path):
    candidates.load(
        by=None, path=write(tmp_path / "c.jsonl", row(kind="specific"), row("none", "Food.", kind="specific"))
    )
    rule = PairRule((("full", "none"),), seed=3)
    first = candidates.make_pairs(by=None, rule=rule)
    assert (first["pairs"], first["created"], first["levels"]) == (1, 1, {"full against none": 1})
    assert candidates.make_pairs(by=None, rule=rule)["unchanged"] == 1
    pair = ResponsePair.objects.get()
    assert (pair.source, pair.kind, pair.profile, pair.question) == ("candidates", "specific", profile, "What to cook?")
    assert sorted(pair.extra["levels"]) == ["full", "none"]
    assert pair.source_label == ""


def test_the_command(profile, tmp_path, capsys):
    questions = write(
        tmp_path / "q.jsonl", {"question": "What to cook?"}, {"question": "Where to go?", "kind": "specific"}
    )
    agent = 'scripted:s {"otherwise": "Words of $dialogue, turn $n."}'
    make = ("candidates", "make", "--agent", agent, "--profiles", "all", "--questions", str(questions))
    for _ in range(2):
        call_command(*make, "--json")
        found = json.loads(capsys.readouterr().out)
        assert (found["orders"], found["done"], found["candidates"], found["cost_usd"]) == (2, 2, 8, 0.0)
    call_command("candidates", "pairs", "--against", "full-none", "over-full", "--near", "100", "--json")
    assert json.loads(capsys.readouterr().out)["pairs"] == 4
    for wrong, field in (
        (["pairs", "--against", "full"], "field against"),
        (["pairs", "--against", "full-full"], "field against"),
        (["make", "--agent", "local"], "field questions"),
        (["make"], "field agent"),
        (["import"], "field file"),
        ([*make[1:], "--levels", "much"], "field levels"),
    ):
        with pytest.raises(CommandError, match=field) as caught:
            call_command("candidates", *wrong)
        assert caught.value.returncode == 2
