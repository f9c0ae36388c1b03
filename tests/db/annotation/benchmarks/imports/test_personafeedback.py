"""PersonaFeedback: both spellings, personas of any shape, and the published part."""

from __future__ import annotations

import json

import pytest

from annotation.benchmarks.imports import personafeedback
from annotation.benchmarks.models import Benchmark
from annotation.corpus.models import Profile, ResponsePair
from annotation.corpus.parsing.personafeedback import persona_document, persona_fields
from core.errors import InputError

pytestmark = pytest.mark.django_db
PERSONA = {
    "Name": "小梅",
    "Demographics": {"Age": 30, "Nationality": "中国"},
    "Personality": {"Thinking_or_Feeling": "F", "Values_and_Interests": ["摄影", "徒步"]},
    "Preference": {"Social": "安静", "Travel": {"Leisure_Travel": "山"}},
    "Bias": "没有",
}


def case(user: str = "小梅_1", **more) -> dict:
    return {"user_id": user, "question": "去哪里旅行？", "chosen": "去山里。", "reject": "去商场。", **more}


def write(path, *rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "persona" / "小梅_1.json", PERSONA)
    write(tmp_path / "general" / "easy.jsonl", case(), case(question="吃什么？"))
    write(tmp_path / "spedific" / "hard.jsonl", case())
    return tmp_path


def load(folder, **options) -> dict:
    return personafeedback.load(by=None, folder=folder, **options).to_document()


def test_the_chosen_response_is_response_1(folder):
    assert load(folder)["created"] == {"profiles": 1, "pairs": 3, "benchmarks": 1, "cases": 3}
    pair = ResponsePair.objects.get(kind="specific")
    assert (pair.question, pair.response_1, pair.response_2) == ("去哪里旅行？", "去山里。", "去商场。")
    assert (pair.source_label, pair.source_tier, pair.profile.external_id) == ("1", "hard", "小梅_1")


def test_a_persona_is_structured_where_it_can_be_and_text_where_not(folder):
    load(folder)
    profile = Profile.objects.get()
    assert profile.name == "小梅"
    assert profile.demographics == PERSONA["Demographics"]
    assert profile.preferences == PERSONA["Preference"]
    assert profile.persona == ("Personality\nThinking or Feeling: F\nValues and Interests: 摄影, 徒步\n\nBias\n没有")
    assert profile.extra == {"Personality": PERSONA["Personality"], "Bias": "没有"}


def test_a_persona_of_another_shape_loses_nothing(folder):
    write(folder / "persona" / "小梅_1.json", {"Name": ["a", "b"], "Demographics": "old", "Preference": None})
    load(folder)
    profile = Profile.objects.get()
    assert profile.extra == {"Name": ["a", "b"], "Demographics": "old", "Preference": None}
    assert profile.persona == "Name\na, b\n\nDemographics\nold\n\nPreference\nNone"


def test_both_spellings_are_the_same_pairs(folder):
    load(folder)
    (folder / "spedific").rename(folder / "specific")
    assert load(folder)["unchanged"] == {"profiles": 1, "pairs": 3, "benchmarks": 1, "cases": 3}


def test_the_folder_data_may_lie_between(folder):
    (folder / "data").mkdir()
    (folder / "general").rename(folder / "data" / "general")
    assert load(folder)["created"] == {"profiles": 1, "pairs": 3, "benchmarks": 1, "cases": 3}


def test_the_same_case_in_another_tier_is_another_pair(folder):
    write(folder / "general" / "hard.jsonl", case())
    assert load(folder)["created"]["pairs"] == 4
    assert len(set(ResponsePair.objects.values_list("external_id", flat=True))) == 4


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (case("小雨"), "general/easy.jsonl, line 1, field user_id: there is no persona/小雨.json"),
        (case(reject="去山里。"), "general/easy.jsonl, line 1: the chosen and the rejected response are the same"),
        ({"user_id": "小梅_1", "question": "?", "chosen": "a"}, "general/easy.jsonl, line 1, field reject: is missing"),
    ],
)
def test_a_bad_case_names_file_line_and_field(folder, row, message):
    write(folder / "general" / "easy.jsonl", row)
    with pytest.raises(InputError) as caught:
        load(folder)
    assert str(caught.value) == f"{folder}/{message}"
    assert not Profile.objects.exists()


def test_a_repeated_case_is_refused(folder):
    write(folder / "general" / "easy.jsonl", case(), case())
    with pytest.raises(InputError, match="is on line 1 already"):
        load(folder)


def test_the_cases_are_one_released_benchmark(folder):
    load(folder)
    benchmark = Benchmark.objects.get()
    assert (benchmark.name, benchmark.state, benchmark.slug) == (
        "PersonaFeedback",
        "released",
        f"personafeedback-{benchmark.version}",
    )
    assert benchmark.made["counts"] == {"general/easy": 2, "specific/hard": 1}
    case = benchmark.cases.get(kind="specific")
    assert (case.tier, case.gold, case.chosen, case.rejected) == ("hard", "1", "去山里。", "去商场。")
    assert (case.votes_1, case.votes_2, case.votes_tie, case.kappa) == (None, None, None, None)


def test_more_cases_are_another_version(folder):
    load(folder)
    write(folder / "general" / "hard.jsonl", case())
    assert load(folder)["created"] == {"profiles": 0, "pairs": 1, "benchmarks": 1, "cases": 4}
    assert sorted(one.cases.count() for one in Benchmark.objects.all()) == [3, 4]


def test_memories_are_kept_as_such_and_may_be_empty(folder):
    write(folder / "persona" / "小梅_1.json", {**PERSONA, "Memories": ["she hikes", "she is vegan"]})
    load(folder)
    assert Profile.objects.get().memories == ["she hikes", "she is vegan"]
    write(folder / "persona" / "小梅_1.json", {**PERSONA, "Memories": []})
    load(folder)
    profile = Profile.objects.get()
    assert profile.memories == []
    assert "Memories" not in profile.extra


def test_a_persona_goes_back_to_its_file():
    for document in (PERSONA, {**PERSONA, "Memories": ["a"]}, {"Name": ["a"], "Demographics": "old", "MBTl": 1}):
        assert persona_document(persona_fields(document)) == document


def test_a_broken_persona_is_named(folder):
    (folder / "persona" / "小梅_1.json").write_text('{"Name":\n}')
    with pytest.raises(InputError, match=r"小梅_1.json, line 2: not JSON"):
        load(folder)
    document = load(folder, on_error="skip")
    assert document["created"] == {"profiles": 0, "pairs": 0, "benchmarks": 0, "cases": 0}
    assert len(document["skipped"]) == 4


def test_a_folder_of_something_else_says_so(tmp_path):
    with pytest.raises(InputError, match="another file of PersonaFeedback's cases"):
        load(tmp_path)


@pytest.mark.long
def test_the_published_part(shared_data):
    """1,547 cases and 40 personas (reference.json of the data): 620 easy, 527 medium, 400 hard."""
    document = load(shared_data / "personafeedback")
    assert document["created"] == {"profiles": 40, "pairs": 1547, "benchmarks": 1, "cases": 1547}
    tiers = [ResponsePair.objects.filter(source_tier=tier).count() for tier in ("easy", "medium", "hard")]
    assert tiers == [620, 527, 400]
    assert Profile.objects.get(external_id="李涛").demographics["Gender"] == "男"
    assert load(shared_data / "personafeedback")["unchanged"] == document["created"]
