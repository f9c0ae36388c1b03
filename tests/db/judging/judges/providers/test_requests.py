"""Pictures of an item are sent to models that take them, and an answer is kept for what was seen."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.corpus import services
from core.jobs.backoff import PermanentError
from judging.judges.providers import create
from judging.judges.providers.requests import JudgeRequest, Picture
from judging.judges.queries.contents import build_content, build_prompt, build_spec
from tests.support import asking
from tests.support.factories import CriterionFactory, DialogueFactory, ItemFactory, JudgeFactory, ResponsePairFactory
from tests.support.media import png

OFF_AND_ON = [("openai_compatible", {}, {"pictures": True}), ("anthropic", {"pictures": False}, {})]


@pytest.fixture
def picture(tmp_path: Path) -> Picture:
    (tmp_path / "a").write_bytes(png())
    return Picture("f" * 64, "image/png", str(tmp_path / "a"), "Turn 1: a.png")


def ask(picture: Picture) -> JudgeRequest:
    asked = asking.request()
    return replace(asked, prompt=replace(asked.prompt, pictures=(picture,)))


def test_chat_completions_send_them_before_the_words(server, picture):
    asking.judge("openai_compatible", ask(picture), pictures=True)
    [sent] = server.asked
    told, shown, words = sent.body["messages"][-1]["content"]
    assert told == {"type": "text", "text": "Turn 1: a.png:"}
    data = base64.b64encode(png()).decode()
    assert shown == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    assert words == {"type": "text", "text": asking.request().prompt.user}


def test_a_model_that_takes_none_is_sent_words_alone(server, picture):
    asking.judge("openai_compatible", ask(picture))
    assert server.asked[0].body["messages"][-1]["content"] == asking.request().prompt.user


def test_anthropic_is_sent_them_before_the_words(picture):
    made = create("anthropic", model="claude-haiku-4-5", parameters={})
    (message,) = made.build_body(ask(picture).prompt)["messages"]
    told, shown, words = message["content"]
    assert told == {"type": "text", "text": "Turn 1: a.png:"}
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png()).decode()}
    assert shown == {"type": "image", "source": source}
    assert words == {"type": "text", "text": asking.request().prompt.user}


@pytest.mark.parametrize(("provider", "off", "on"), OFF_AND_ON)
def test_an_answer_is_kept_for_the_pictures_that_were_seen(provider, off, on, picture):
    blind, seeing = (create(provider, model="m", parameters=given) for given in (off, on))
    other = replace(picture, sha256="e" * 64)
    assert blind.identity(ask(picture)) == blind.identity(ask(other)) == blind.identity(asking.request())
    assert seeing.identity(asking.request()) == blind.identity(asking.request())
    kept = [seeing.identity(one) for one in (asking.request(), ask(picture), ask(other))]
    assert kept[0] != kept[1] != kept[2] != kept[0]


def test_a_picture_counts_among_the_tokens(picture):
    made = create("anthropic", model="m", parameters={})
    more = made.estimate_tokens(ask(picture)).tokens - made.estimate_tokens(asking.request()).tokens
    assert more == 1600


def test_one_that_is_lost_is_an_error_that_names_it(picture):
    Path(picture.path).unlink()
    made = create("anthropic", model="m", parameters={})
    with pytest.raises(PermanentError, match=r"Turn 1: a.png cannot be read"):
        made.build_body(ask(picture).prompt)


def image(sha256: str) -> dict:
    return {"kind": "image", "start": 0, "end": 1, "sha256": sha256, "type": "image/png", "name": "a.png"}


@pytest.mark.django_db
def test_a_judge_gets_the_pictures_of_the_turns_that_it_reads(settings, tmp_path):
    settings.ATTACHMENTS = tmp_path
    stored = [services.store_attachment(png(size), name="a.png").sha256 for size in (8, 9)]
    turns = [{"role": "user", "content": "x", "parts": [image(one)]} for one in stored]
    item = ItemFactory(dialogue=DialogueFactory(turns=turns))
    content = build_content(item, [], "")
    spec, judge = build_spec(CriterionFactory(study=item.study)), JudgeFactory()
    assert [one.sha256 for one in build_prompt(judge, spec, content).pictures] == stored
    first = build_prompt(judge, spec, replace(content, turn=1)).pictures
    assert [(one.sha256, one.name, Path(one.path).read_bytes()) for one in first] == [
        (stored[0], "Turn 1: a.png", png(8))
    ]


@pytest.mark.django_db
def test_pictures_of_responses_are_told_by_their_side():
    parts = {"question": [image("0" * 64)], "response_1": [image("1" * 64)], "response_2": [image("2" * 64)]}
    item = ItemFactory(dialogue=None, pair=ResponsePairFactory(parts=parts))
    told = [(one.name, one.sha256[0]) for one in build_content(item, [], "BA").pictures]
    assert told == [("Question: a.png", "0"), ("Response A: a.png", "2"), ("Response B: a.png", "1")]
