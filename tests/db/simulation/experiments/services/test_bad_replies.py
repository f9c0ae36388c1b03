"""Models that answer badly, as a server answers by script: each is an ending of its own, or a turn of own words."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from annotation.corpus.models import Dialogue, Task
from core.errors import InputError
from judging.judges.models import Price
from simulation.agents import services as agents_services
from simulation.agents.parsing.endings import Limits
from simulation.experiments.models import Turn
from tests.support.model_server import KEY, MODEL, Answer, running
from tests.support.simulation import begun, finished, people, played, scripted

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def one_server():
    with running() as server:
        yield server


@pytest.fixture
def server(one_server, monkeypatch):
    one_server.requests.clear()
    one_server.answers.clear()
    one_server.by_default = lambda request: Answer(text="Booked at eight.")
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{one_server.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", one_server.url)
    return one_server


def speaker(side: str = "assistant", provider: str = "openai_compatible", **parameters):
    return agents_services.build_agent(side=side, provider=provider, model=MODEL, parameters=parameters)


def played_with(**sides):
    people(1, 1)
    return played(**sides).dialogues.get()


@pytest.mark.any_database
@pytest.mark.parametrize(("provider", "stop"), [("openai_compatible", "length"), ("anthropic", "max_tokens")])
@pytest.mark.long
def test_a_reply_that_met_the_limit_is_asked_for_again_with_more_room(server, provider, stop):
    server.answers += [Answer(text="There are three pla", stop=stop), Answer(text="There are three places.")]

    row = played_with(assistant=speaker(provider=provider))

    turn = row.turns.get(number=2)
    assert (row.ending, turn.text, turn.cut_off) == ("done", "There are three places.", ["There are three pla"])
    assert [request.body["max_tokens"] for request in server.asked[:3]] == [800, 1600, 800]
    assert turn.output_tokens == 2 * 34, "both replies were paid for"
    assert row.turns.get(number=4).cut_off == []


@pytest.mark.parametrize("side", ["user", "assistant"])
def test_a_reply_that_never_ends_is_an_ending_of_its_own(server, side):
    server.by_default = lambda request: Answer(text="And then, and then", stop="length")

    row = played_with(**{side: speaker(side)})

    assert row.ending == f"{side}_cut_off"
    assert [request.body["max_tokens"] for request in server.asked] == [800, 1600, 3200]
    assert not Dialogue.objects.exists()
    assert len(row.turns.get(problem="cut_off").cut_off) == 2


def test_a_reply_that_met_the_limit_as_the_other_side_is_whole(server):
    server.answers.append(Answer(text="For when?\nUser: At eight.\nAssistant: Book", stop="length"))

    row = played_with(assistant=speaker())

    turn = row.turns.get(number=2)
    assert (turn.text, turn.cut, turn.cut_off) == ("For when?", True, [])


def test_more_room_stays_within_the_budget(server):
    """A dollar a token that is written: 800 fit into the budget, 1600 more do not."""
    day = date(2026, 1, 2)
    Price.objects.create(provider="openai_compatible", model=MODEL, valid_from=day, input=0, output=1_000_000)
    Price.objects.create(provider="scripted", model="scripted user", valid_from=day, input=0, output=0)
    server.by_default = lambda request: Answer(text="And then", stop="length")
    people(1, 1)

    experiment = finished(begun(assistant=speaker(), budget_usd=Decimal(1000)))

    assert experiment.state == "stopped"
    assert "34.00 are spent, and another turn may cost $1,600.00" in experiment.stop_reason.replace("$34", "34")
    assert [request.body["max_tokens"] for request in server.asked] == [800]


def test_both_sides_in_one_reply(server):
    server.answers.append(Answer(text="For when?\n\nUser: At eight.\n\nAssistant: Booked."))

    row = played_with(assistant=speaker())

    turn = row.turns.get(number=2)
    assert (row.ending, turn.text, turn.cut) == ("done", "For when?", True)
    assert "User: At eight." in turn.raw_reply


def test_another_language_is_a_turn_like_any_other(server):
    server.answers.append(Answer(text="请问几点？\n\n客户：李娜\n餐厅：樱花"))

    row = played_with(assistant=speaker())

    turn = row.turns.get(number=2)
    assert (row.ending, turn.text, turn.cut) == ("done", "请问几点？\n\n客户：李娜\n餐厅：樱花", False)


@pytest.mark.parametrize("side", ["user", "assistant"])
@pytest.mark.parametrize(
    ("answer", "problem"), [(Answer(text=" \n"), "empty"), (Answer(text="", refusal="I will not."), "refusal")]
)
def test_nothing_and_a_refusal(server, side, answer, problem):
    server.answers.append(answer)

    assert played_with(**{side: speaker(side)}).ending == f"{side}_{problem}"
    assert not Dialogue.objects.exists()


@pytest.mark.parametrize("side", ["user", "assistant"])
def test_the_prompt_said_back(server, side):
    server.by_default = lambda request: Answer(text=request.body["messages"][0]["content"])

    row = played_with(**{side: speaker(side)})

    assert row.ending == f"{side}_echo"
    assert not Dialogue.objects.exists()


def test_a_request_in_the_words_of_the_task_is_no_echo(server):
    people(1, 1)
    wanted = "I want a quiet table for two by the window on Friday at eight, not too far from the station, please."
    Task.objects.update(intent=wanted)

    experiment = played(user=scripted("user", lines=[wanted, "Thanks, that is all. [END]"]))

    assert experiment.dialogues.get().ending == "done"


def test_sentences_that_sound_like_an_assistant_end_nothing(server):
    lines = [
        "I work as a personal assistant.",
        "Is there anything else I can do to get a lower price?",
        "I'm happy to help my sister pay.",
        "Thanks, that is all. **[END]**",
    ]

    row = played_with(user=scripted("user", lines=lines))

    assert row.ending == "done"
    assert row.turns.get(ended=True).text == "Thanks, that is all."


@pytest.mark.parametrize(("information", "ends"), [("faithful", "TERMINATE"), ("task_preferences", "[END]")])
def test_the_end_mark_is_that_of_the_user_s_information(server, information, ends):
    lines = ["Book me a table.", "Is [END] or TERMINATE on the bill?".replace(ends, "it"), f"That is all. **{ends}**"]

    row = played_with(user=scripted("user", lines=lines), user_information=information)

    said = [turn.text for turn in row.turns.order_by("number")]
    assert (row.ending, len(said), said[4]) == ("done", 2 * 2 + 2, "That is all.")


def test_a_task_without_a_goal_is_played(server):
    """What is still without a goal is counted in the estimate; nobody can say whether it was completed."""
    people(1, 1)
    Task.objects.update(goal="")
    server.answers += [Answer(text="A table, please."), Answer(text="At eight.")]

    experiment = played(user=speaker("user"), limits=Limits(1, 1))

    assert experiment.dialogues.get().ending == "limit"
    assert "You have it when: the task is done" in server.asked[0].body["messages"][0]["content"]


@pytest.mark.parametrize("users", ["0", " "])
def test_no_users_are_refused(server, users):
    people(1, 1)

    with pytest.raises(InputError) as error:
        begun(user=speaker("user"), users=users)
    assert (error.value.field, server.asked) == ("users", [])


def test_an_instruction_of_an_agent_s_own_goes_first(server):
    played_with(assistant=speaker(system="Answer in rhymes."))

    first, *_ = server.asked[0].body["messages"]
    assert first["content"].startswith("Answer in rhymes.\n\nYou are the personal assistant")
    assert Turn.objects.filter(side="assistant").exists()
