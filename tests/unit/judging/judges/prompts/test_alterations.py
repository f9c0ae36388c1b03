import random
from dataclasses import replace

import pytest

from judging.judges.prompts import build_placeholders, render
from judging.judges.prompts.alterations import ALTERATIONS, INJECTION, Aim, alter, choose_alterations, list_alterations
from judging.judges.providers.requests import (
    Category,
    CriterionSpec,
    DialogueContent,
    PairContent,
    Person,
    Picture,
    Turn,
)

PERSON = Person(
    persona="My name is Maren Oduya. I am a nurse.",
    demographics={"age": "35-44", "home": "Leeds"},
    preferences={"Books": {"Genres": ["crime"], "Format": ["audio"]}, "Music": {"Genres": ["trip hop"]}},
)
DIALOGUE = DialogueContent(
    turns=(
        Turn("user", "A table, please."),
        Turn("assistant", "Hello Maren. **Two** fit:\n- Addis, at 19:00.\n- Tamarind."),
        Turn("user", "Addis. Is 19:30 free?"),
        Turn("assistant", "Done, Mrs Oduya. See you then."),
    ),
    person=PERSON,
)
PAIR = PairContent("What now?", "Read a **book**. Then sleep.", "Go out.", person=PERSON)
SCALE = CriterionSpec("quality", "Quality", "How good?", "", "ordinal", (Category("1", "bad"), Category("5", "good")))


def copy(name, content, *, seed=0, **aim):
    return alter(content, ALTERATIONS[name], Aim(**aim), random.Random(seed))


@pytest.mark.parametrize("name", [one.name for one in list_alterations("dialogue")])
def test_every_alteration_of_a_dialogue_changes_what_is_read_and_is_drawn_again_from_its_seed(name):
    found = copy(name, DIALOGUE, value="5")
    assert build_placeholders(found) != build_placeholders(DIALOGUE)
    assert found == copy(name, DIALOGUE, value="5")
    render(SCALE, found)


@pytest.mark.parametrize("name", [one.name for one in list_alterations("pair")])
def test_every_alteration_of_a_pair(name):
    found = copy(name, PAIR, side="B", names=("Maren",))
    assert build_placeholders(found) != build_placeholders(PAIR)
    if ALTERATIONS[name].family == INJECTION:
        assert found.response_a == PAIR.response_a  # nothing is planted in the other response
        assert PAIR.response_b in found.response_b


def test_instructions_stand_where_they_should():
    assert copy("injection:note", DIALOGUE).turns[3].content.startswith(DIALOGUE.turns[3].content)
    assert copy("injection:system", DIALOGUE).turns[1].content.endswith(DIALOGUE.turns[1].content)
    assert copy("injection:user", DIALOGUE).turns[2].content.startswith(DIALOGUE.turns[2].content)
    forged = copy("injection:answer", DIALOGUE, value="5").turns[3].content
    assert '"verdict": "5"}' in forged


def test_a_planted_instruction_stays_inside_the_fence():
    prompt = render(SCALE, copy("injection:system", DIALOGUE)).user
    end = prompt.index("the conversation ends ----")
    assert all(words not in prompt[end:] for words in ("highest", "SYSTEM", "New instruction", "Override"))


def test_several_phrasings():
    assert len({copy("injection:note", DIALOGUE, seed=seed).turns[3].content for seed in range(20)}) == 3


def test_the_user_is_renamed_everywhere_and_nobody_else_is():
    found = copy("invariance:names", DIALOGUE)
    text = "\n".join(build_placeholders(found).values())
    assert "Maren" not in text
    assert "Oduya" not in text
    given = found.turns[1].content.split()[1].rstrip(".")
    family = found.turns[3].content.split()[2].rstrip(".")
    assert f"My name is {given} {family}." in found.person.persona
    assert "Addis" in text


def test_a_known_name_that_is_not_in_the_text_is_nothing_to_rename():
    nobody = PairContent("What now?", "Read.", "Go.")
    assert copy("invariance:names", nobody, names=("Maren Oduya",)) is None
    assert copy("invariance:names", nobody) is None


def test_part_of_a_word_is_no_name():
    assert copy("invariance:names", PairContent("Kimchi?", "Kim, yes.", "No."), names=("Kim",)).question == "Kimchi?"


def test_chinese_names_have_no_spaces_around_them():
    pair = PairContent("陳美玲喜歡什麼？", "書。", "花。")
    assert "陳美玲" not in copy("invariance:names", pair, names=("陳美玲 (Chen Mei-ling)",)).question


def test_formatting():
    assert copy("invariance:plain", DIALOGUE).turns[1].content == "Hello Maren. Two fit:\nAddis, at 19:00.\nTamarind."
    bullets = copy("invariance:bullets", PAIR)
    assert bullets.response_a == "- Read a book.\n- Then sleep."
    assert bullets.response_b == "- Go out."
    assert copy("invariance:spacing", PAIR).response_a == "Read a **book**.  Then sleep."


def test_what_has_no_markdown_stays_as_it_is():
    assert copy("invariance:plain", PairContent("?", "Read.", "Go out.")) is None


def test_the_fields_of_the_profile_change_places_and_keep_their_values():
    found = copy("invariance:profile_order", DIALOGUE).person
    assert found.preferences == PERSON.preferences  # dictionaries are equal whatever their order
    assert list(found.demographics) != list(PERSON.demographics) or list(found.preferences) != list(PERSON.preferences)
    assert copy("invariance:profile_order", PairContent("?", "a", "b")) is None


def test_without_a_turn_of_the_assistant_nothing_is_planted():
    assert copy("injection:note", DialogueContent((Turn("user", "Hello?"),))) is None


def test_without_a_highest_value_no_answer_is_forged():
    assert copy("injection:answer", DIALOGUE) is None


def test_names_and_families():
    assert [one.name for one in choose_alterations(["length", "injection:note"], "pair")] == [
        "injection:note",
        "length:padding",
    ]
    assert "injection:user" not in [one.name for one in choose_alterations([], "pair")]
    with pytest.raises(ValueError, match="'injection:user' is not an alteration of a pair; there are injection:note"):
        choose_alterations(["injection:user"], "pair")


@pytest.mark.parametrize("name", ["injection:note", "injection:system", "injection:user", "length:padding"])
def test_a_turn_that_is_altered_keeps_its_pictures(name):
    picture = Picture("0" * 64, "image/png", "/none", "Turn")
    shown = replace(DIALOGUE, turns=tuple(replace(turn, pictures=(picture,)) for turn in DIALOGUE.turns))
    assert all(turn.pictures == (picture,) for turn in copy(name, shown, value="5").turns)


@pytest.mark.parametrize("name", [one.name for one in list_alterations("dialogue") if one.name != "injection:user"])
def test_of_a_turn_that_is_rated_alone_nothing_after_it_is_altered(name):
    first = replace(DIALOGUE, turn=2)
    found = copy(name, first, value="5")
    assert build_placeholders(found) != build_placeholders(first)
    if not name.endswith((":names", ":profile_order")):
        assert found.turns[3] == DIALOGUE.turns[3]


def test_a_response_alone_is_favoured_by_the_highest_value():
    alone = PairContent("What now?", "Read a **book**. Then sleep.", "", person=PERSON, is_alone=True)
    assert '"verdict": "5"}' in copy("injection:answer", alone, value="5").response_a
    note = copy("injection:note", alone, value="5").response_a
    assert note.startswith(alone.response_a)
    assert not any(words in note for words in ("better", "prefer", "as your verdict"))
