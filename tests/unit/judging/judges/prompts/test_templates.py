"""A researcher brings a template; and what Concord's own ones must keep to."""

from __future__ import annotations

import pytest

from annotation.studies.criteria import TEMPLATES
from judging.judges import prompts
from judging.judges.prompts import TemplateError, kinds, names_criterion, placeholders, problems, render, templates
from judging.judges.providers.requests import Category, CriterionSpec, DialogueContent, PairContent, Person, Turn

CRITERION = CriterionSpec("tone", "Tone", "Is it polite?", "Be fair.", "nominal", (Category("yes", "Yes"),))
DIALOGUE = DialogueContent(turns=(Turn("user", "Hello."),), person=Person(demographics={"age": "35"}), goal="A chat.")
PAIR = PairContent("What now?", "Tea.", "Coffee.")


def test_all_is_filled_in():
    template = "$criterion? $asked\n${conversation}\nFor $$5 or $5, $demographics\n$goal $values"

    user = render(CRITERION, DIALOGUE, template=template).user

    assert user.startswith("Tone? Is it polite?\n---- ")
    assert "[1] user: Hello." in user
    assert "For $5 or $5, ---- " in user
    assert "- age: 35" in user
    assert "A chat." in user
    assert user.endswith(' "yes"')


def test_what_is_asked_for_and_not_known_is_said_so():
    assert "(not known)" in render(CRITERION, DIALOGUE, template="$conversation $preferences").user


def test_what_is_filled_in_is_not_filled_in_again():
    content = DialogueContent(turns=(Turn("user", "I pay $criterion and ${nothing} or $$."),))

    assert "I pay $criterion and ${nothing} or $$." in render(CRITERION, content, template="$conversation").user


def test_the_system_text_can_be_another_or_none():
    assert render(CRITERION, DIALOGUE, system="").system == ""
    assert render(CRITERION, DIALOGUE, system="Be strict.").system == "Be strict."


def test_where_the_criterion_comes_first_nothing_is_shared():
    assert render(CRITERION, DIALOGUE, template="$criterion $conversation").shared == 0
    assert render(CRITERION, DIALOGUE, template="$conversation $criterion").shared > 0


@pytest.mark.parametrize(
    ("template", "kind", "said"),
    [
        (
            "$conversation $mood",
            "dialogue",
            "${mood} is not a placeholder for a dialogue; there are $conversation, $task",
        ),
        ("$conversation ${}", "dialogue", "${} is not a placeholder"),
        ("$conversation $response_a", "dialogue", "${response_a} is not a placeholder for a dialogue"),
        ("Rate it.", "dialogue", "The template lacks $conversation"),
        ("$$conversation", "dialogue", "The template lacks $conversation"),
        ("$question $response_a", "pair", "The template lacks $response_b"),
    ],
)
def test_what_cannot_be_used_is_said_and_refused(template, kind, said):
    assert said in problems(template, kind)[0]
    with pytest.raises(TemplateError, match=r"placeholder|lacks"):
        render(CRITERION, DIALOGUE if kind == "dialogue" else PAIR, template=template)


def test_which_items_a_template_can_ask_about():
    assert kinds("$conversation") == ["dialogue"]
    assert kinds("$response_a $response_b") == ["pair"]
    assert kinds("Rate it.") == []


def test_whether_a_template_tells_criteria_apart():
    assert names_criterion("$conversation $guideline")
    assert not names_criterion("How personal is it? $conversation")


class TestOwn:
    @pytest.mark.parametrize("kind", ["dialogue", "pair"])
    def test_every_text_can_be_used_and_asks_for_an_answer_that_can_be_read(self, kind):
        for file in (templates.FOLDER / kind).glob("*.txt"):
            text = prompts.template(kind, file.stem)
            assert problems(text, kind) == [], file
            assert text.endswith("$answer"), file
            assert names_criterion(text), file

    @pytest.mark.parametrize("kind", ["dialogue", "pair"])
    def test_all_texts_of_a_kind_begin_alike(self, kind):
        last = f"${templates.NEEDED[kind][-1]}"
        beginnings = {
            prompts.template(kind, file.stem).split(last)[0] for file in (templates.FOLDER / kind).glob("*.txt")
        }

        assert len(beginnings) == 1

    def test_every_criterion_that_comes_with_concord_has_its_own(self):
        for key, template in TEMPLATES.items():
            assert prompts.template(template.kind, key) != prompts.template(template.kind, "general"), key

    def test_an_unknown_criterion_gets_the_general_one(self):
        assert prompts.template("dialogue", "tone") == prompts.template("dialogue", "general")

    @pytest.mark.parametrize("kind", ["dialogue", "pair"])
    def test_every_placeholder_is_explained(self, kind):
        assert all(placeholders(kind).values())
        render(
            CRITERION, DIALOGUE if kind == "dialogue" else PAIR, template=" ".join(f"${p}" for p in placeholders(kind))
        )
