"""What a model is shown of a person: pure functions."""

import pytest

from judging.judges import evaluation_settings
from judging.judges.evaluation_settings import Setting, build_person

KNOWN = {
    "persona": "Lila is thirty. She paints. She lives by the sea.",
    "demographics": {"Age": 30, "Language": ["Chinese", "Spanish"], "MBTi_typ": "INFJ"},
    "preferences": {"Travel": {"Business_Trips": "by train"}, "Food": None},
    "interactions": {},
    "memories": [],
}


def test_settings_grant_what_they_say():
    assert evaluation_settings.select_known(KNOWN, Setting("none")) == evaluation_settings.Person()
    profile = evaluation_settings.select_known(KNOWN, Setting("profile"))
    assert (profile.persona, profile.demographics["Age"], profile.memories) == (KNOWN["persona"], 30, ())
    memories = evaluation_settings.select_known(KNOWN, Setting("memories"))
    assert memories.persona == ""
    assert memories.demographics == {}
    assert len(memories.memories) == 7


def test_memories_are_made_of_the_personas_own_fields_where_there_are_none():
    assert evaluation_settings.is_made(build_person(KNOWN))
    assert evaluation_settings.build_memories(build_person(KNOWN)) == (
        "Age: 30",
        "Language: Chinese",
        "Language: Spanish",
        "MBTi typ: INFJ",  # a misspelt key is kept
        "Travel, Business Trips: by train",
        "Lila is thirty. She paints.",
        "She lives by the sea.",
    )


@pytest.mark.parametrize("memories", [[], [""], [None, "  "], None])
def test_empty_memories_are_none(memories):
    assert evaluation_settings.is_made(build_person({**KNOWN, "memories": memories}))


def test_memories_that_there_are_go_before():
    known = build_person({**KNOWN, "memories": ["Went to Porto.", {"when": "May", "what": "sold a picture"}, ""]})
    assert evaluation_settings.build_memories(known) == ("Went to Porto.", "when: May; what: sold a picture")
    assert not evaluation_settings.is_made(known)


def test_nobody_is_known_where_there_is_no_profile():
    assert evaluation_settings.select_known({}, Setting("profile")) == evaluation_settings.Person()
    assert evaluation_settings.build_memories(build_person({})) == ()


def test_fields_that_are_left_out():
    left = evaluation_settings.drop_fields(KNOWN, ("demographics.Age", "preferences", "interactions.nothing"))
    assert "Age" not in left["demographics"]
    assert "MBTi_typ" in left["demographics"]
    assert "preferences" not in left
    assert KNOWN["demographics"]["Age"] == 30
    assert not any(
        "Age" in memory
        for memory in evaluation_settings.select_known(KNOWN, Setting("memories", without=("demographics",))).memories
    )


def test_fields_that_can_be_left_out():
    assert list(evaluation_settings.list_fields(KNOWN)) == [
        "persona",
        "demographics",
        "demographics.Age",
        "demographics.Language",
        "demographics.MBTi_typ",
        "preferences",
        "preferences.Travel",
        "preferences.Food",
    ]


def test_a_setting_is_kept_and_read_again():
    setting = Setting("memories", retriever="endpoint", k=3, without=("persona",), embedder={"model": "m"})
    assert Setting.from_stored(setting.to_json()) == setting
    assert Setting.from_stored({}) is None
    assert "k" not in Setting("none").to_json()


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        (Setting("all"), "shows"),
        (Setting("none", answers="loud"), "answers"),
        (Setting("memories", retriever="magic"), "retriever"),
        (Setting("memories", k=0), "k"),
        (Setting("memories", k=51), "k"),
        (Setting("memories", retriever="endpoint"), "embedder"),
    ],
)
def test_what_is_wrong_with_a_setting_is_named(setting, field):
    assert [name for name, _ in setting.problems()] == [field]
