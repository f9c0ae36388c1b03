"""Alice builds a rubric on its page, over HTTP."""

from __future__ import annotations

from base64 import b64decode
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.studies.criteria import RUBRICS
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.parsing.rubric_files import FORMATS, read_text, write_rubric
from annotation.studies.queries.criteria import load_rubric
from annotation.studies.services import studies
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from tests.support.answer_types import DIALOGUE, PAIR
from tests.support.factories import DialogueFactory
from tests.support.media import SVG, png
from tests.support.people import OpenStudy

pytestmark = pytest.mark.any_database

SIMPLE = {"criterion": [{"key": "done", "type": "binary", "question": "Is it done?"}]}
TONE = {
    "action": "save",
    "old": "",
    "type": "ordinal",
    "question": "How kind is it?",
    "name": "Tone",
    "key": "",
    "unit": "item",
    "categories": "1 | Rude\n2 | Plain | Nothing to say\n\n3 | Kind",
    "examples": "+ 3: it thanks them\n- 3 as it is long",
    "required": "on",
    "waits_for": "done",
    "waits_values": "yes, no",
}


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def draft(alice: User) -> Study:
    return studies.create(by=alice, name="Draft", kind="dialogue", rubric=SIMPLE)


def address(study: Study, name: str = "rubric", *more: str) -> str:
    return reverse(name, args=[study.slug, *more])


def keys(study: Study) -> list[str]:
    return [one.key for one in Study.objects.get(pk=study.pk).asked]


def text_of(response) -> str:
    return unescape(response.content.decode())


def test_a_criterion_is_added_with_all_that_the_form_says(client: Client, draft: Study) -> None:
    page = text_of(client.get(address(draft), {"add": "ordinal"}))
    assert "New criterion" in page
    saved = client.post(address(draft), TONE, follow=True)
    assert "Added: tone." in text_of(saved)
    assert "ordered scale" in text_of(saved), "of an ordered scale the builder says so"
    tone = Criterion.objects.get(key="tone")
    assert (tone.level, [c["label"] for c in tone.categories]) == ("ordinal", ["Rude", "Plain", "Kind"])
    assert tone.categories[1]["guideline"] == "Nothing to say"
    assert [(one["good"], one["text"]) for one in tone.examples] == [
        (True, "3: it thanks them"),
        (False, "3 as it is long"),
    ]
    assert tone.condition == {"criterion": "done", "values": ["yes", "no"]}
    again = client.post(address(draft), {**initial_of(client, draft, "tone"), "action": "save", "old": "tone"})
    assert again.status_code == 302
    assert Criterion.objects.get(key="tone").categories == tone.categories, "saved as it was shown"


def initial_of(client: Client, study: Study, key: str) -> dict:
    form = client.get(address(study), {"edit": key}).context["form"]
    found = {bound.name: bound.value() for bound in form}
    return {name: value for name, value in found.items() if value is not None and value is not False}


@pytest.mark.long
@pytest.mark.parametrize(("kind", "rubric"), [("dialogue", DIALOGUE), ("pair", PAIR)])
def test_every_type_is_saved_as_its_form_shows_it(client: Client, alice: User, kind: str, rubric: dict) -> None:
    study = studies.create(by=alice, name="All", kind=kind, rubric=rubric)
    before = load_rubric(study)
    for one in before.criteria:
        saved = client.post(address(study), {**initial_of(client, study, one.key), "action": "save", "old": one.key})
        assert saved.status_code == 302, saved.context["form"].errors
    assert load_rubric(Study.objects.get(pk=study.pk)) == before


def picture(content: bytes, name: str = "a.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def images(draft: Study) -> list[bytes]:
    """The pictures of the examples of `tone`; nothing where one has none."""
    given = Criterion.objects.get(study=draft, key="tone").examples
    return [b64decode(one.get("image", "").partition(",")[2]) for one in given]


@pytest.mark.each_database
def test_an_example_gets_a_picture_keeps_it_and_loses_it(client: Client, draft: Study) -> None:
    remove = "Remove the pictures"
    assert remove not in text_of(client.get(address(draft) + "?add=ordinal"))
    client.post(address(draft), {**TONE, "picture": picture(png()), "picture_of": "2"})
    assert images(draft) == [b"", png()]
    assert remove in text_of(client.get(address(draft) + "?edit=tone"))
    shown = text_of(client.get(address(draft)))
    assert 'src="data:image/png;base64,' in shown
    edit = {**TONE, "old": "tone", "key": "tone"}
    client.post(address(draft), {**edit, "help": "As to a friend."})
    assert images(draft) == [b"", png()], "it stays with its text"
    client.post(address(draft), {**edit, "picture": picture(png(width=9)), "picture_of": "2"})
    assert images(draft) == [b"", png(width=9)]
    client.post(address(draft), {**edit, "no_pictures": "on"})
    assert images(draft) == [b"", b""]
    assert remove not in text_of(client.get(address(draft) + "?edit=tone"))


@pytest.mark.parametrize(
    ("content", "of", "field", "said"),
    [
        (SVG, "1", "picture", "It is not a PNG, JPEG or WebP picture."),
        (png() + bytes(225_000), "1", "picture", "It has more than 224 kB."),
        (png(), "3", "picture_of", "Name one of the 2 examples."),
        (png(), "", "picture_of", "Name one of the 2 examples."),
    ],
)
def test_a_picture_that_cannot_be_taken(client: Client, draft: Study, content, of, field, said) -> None:
    answer = client.post(address(draft), {**TONE, "picture": picture(content), "picture_of": of})
    assert said in unescape(str(answer.context["form"].errors[field]))
    assert keys(draft) == ["done"]


def test_what_is_wrong_is_said_at_its_field_and_stays_in_the_form(client: Client, draft: Study) -> None:
    for change, field, said in (
        ({"categories": "1 | Only"}, None, "A scale has at least two categories"),
        ({"categories": "\n".join(map(str, range(12)))}, None, "An ordered scale has 2 to 11 steps, not 12"),
        ({"key": "done"}, "key", "Another criterion has this key"),
        ({"waits_values": "perhaps"}, "waits_for", "Can never hold: done has no value 'perhaps'"),
        ({"question": ""}, "question", "This field is required."),
    ):
        answer = client.post(address(draft), TONE | change)
        errors = answer.context["form"].errors
        assert said in unescape(str(errors.get(field or "__all__"))), (change, errors)
        assert 'value="Tone"' in text_of(answer)
    assert keys(draft) == ["done"]


def test_the_fields_follow_the_type(client: Client, draft: Study) -> None:
    shown = client.post(address(draft), TONE | {"action": "show", "type": "number"})
    names = {bound.name for bound in shown.context["form"]}
    assert {"least", "most", "slider"} <= names
    assert "categories" not in names
    assert "How kind is it?" in text_of(shown)
    assert "ranking" not in dict(shown.context["form"].fields["type"].choices), "a dialogue has no responses"


@pytest.mark.each_database
def test_the_preview_shows_what_is_in_the_form(client: Client, draft: Study) -> None:
    page = text_of(client.post(address(draft), TONE | {"action": "show"}))
    preview = page[page.index('id="preview"') :]
    assert "How kind is it?" in preview
    assert "Only if Done is Yes or No." in preview
    assert not Criterion.objects.filter(key="tone").exists()


def test_criteria_are_moved_and_removed(client: Client, draft: Study) -> None:
    client.post(address(draft), TONE | {"waits_for": "", "waits_values": ""})
    client.post(address(draft), {"action": "up", "key": "tone"})
    assert keys(draft) == ["tone", "done"]
    client.post(address(draft), {"action": "down", "key": "tone"})
    assert keys(draft) == ["done", "tone"]
    client.post(address(draft), {"action": "remove", "key": "done"})
    assert keys(draft) == ["tone"]
    refused = client.post(address(draft), {"action": "remove", "key": "tone"}, follow=True)
    assert "needs at least 1" in text_of(refused)


def test_a_move_that_breaks_a_condition_is_refused(client: Client, draft: Study) -> None:
    client.post(address(draft), TONE)
    refused = client.post(address(draft), {"action": "up", "key": "tone"}, follow=True)
    assert "waits for done, which is asked later" in text_of(refused)
    assert keys(draft) == ["done", "tone"]


def test_a_template_or_a_file_replaces_the_whole(client: Client, draft: Study) -> None:
    client.post(address(draft), {"action": "replace", "template": "factuality"})
    assert keys(draft) == [one.key for one in RUBRICS["factuality"].criteria]
    file = SimpleUploadedFile("r.yaml", write_rubric(RUBRICS["safety_policy"], "yaml").encode())
    client.post(address(draft), {"action": "replace", "file": file})
    assert keys(draft) == [one.key for one in RUBRICS["safety_policy"].criteria]
    bad = SimpleUploadedFile("r.toml", b'[[criterion]]\nkey = "c"\n')
    assert "r.toml, field criterion.c.question: is needed" in text_of(
        client.post(address(draft), {"action": "replace", "file": bad})
    )
    assert "Choose a template or a file." in text_of(client.post(address(draft), {"action": "replace"}))


@pytest.mark.each_database
def test_once_labels_are_there_a_change_needs_a_reason(client: Client, open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], criteria=None, rubric=SIMPLE)
    annotations.submit(by=bob, assignment=assignments.lease_next(by=bob, study=study), values={"done": "yes"})
    page = text_of(client.get(address(study), {"edit": "done"}))
    assert "Why it changes" in page
    given = {**initial_of(client, study, "done"), "question": "All done?", "action": "save", "old": "done"}
    assert "say why it changes" in text_of(client.post(address(study), given))
    assert client.post(address(study), given | {"reason": "Clearer"}).status_code == 302
    assert Criterion.objects.get().guideline_version == 2


@pytest.mark.parametrize("kind", ["dialogue", "pair"])
def test_the_try_out_stores_nothing(client: Client, alice: User, kind: str) -> None:
    study = studies.create(by=alice, name="Try", kind=kind, rubric={"dialogue": DIALOGUE, "pair": PAIR}[kind])
    page = text_of(client.get(address(study, "rubric_try")))
    assert "Nothing is stored. The study has no items yet, so this one is invented." in page
    given = {"done": "yes", "share": "50", "errors-nothing": "1"}
    if kind == "pair":
        given = {"preference": "B", "helpful.A": "1", "helpful.B": "2", "order-rank-A": "1", "order-rank-B": "2"}
        given |= {"ends-best": "A", "ends-worst": "B", "errors.A-nothing": "1"}
        given |= {"errors.B-quotes": "rude | | annual herb"}
    answered = text_of(client.post(address(study, "rubric_try"), given))
    assert "What would be stored" in answered
    assert ("annual herb" in answered) == (kind == "pair")
    assert "has no answer yet" in text_of(client.post(address(study, "rubric_try"), {"done": "yes"}))
    assert not Annotation.objects.exists()


def test_the_rubric_is_downloaded_in_each_format(client: Client, draft: Study) -> None:
    for fmt in FORMATS:
        answer = client.get(address(draft, "rubric_download", fmt))
        assert read_text(answer.content.decode(), fmt) == load_rubric(draft)
    assert client.get(f"{address(draft)[:-1]}.xml").status_code == 404


def test_nobody_else_sees_the_builder(draft: Study, charlie: User) -> None:
    outsider = Client()
    outsider.force_login(charlie)
    for name in ("rubric", "rubric_try"):
        assert outsider.get(address(draft, name)).status_code in (302, 403, 404)


def test_a_new_study_takes_a_rubric_from_a_file(client: Client, alice: User) -> None:
    file = SimpleUploadedFile("r.toml", write_rubric(RUBRICS["factuality"], "toml").encode())
    page = reverse("study_create") + "?kind=dialogue"
    given = {
        "name": "Facts",
        "overlap": 1,
        "seed": 0,
        "method": "all",
        "sample_seed": 0,
        "template": "published",
        "access": "invited",
        "check_every": 0,
        "repeat_every": 0,
        "repeat_after": 10,
        "go": "create",
    }
    DialogueFactory()
    assert client.post(page, given | {"rubric_file": file}).status_code == 302
    assert keys(Study.objects.get()) == ["claims", "factual", "correction"]
    wrong = SimpleUploadedFile("r.toml", b"x = = 1")
    refused = client.post(page, given | {"name": "Other", "rubric_file": wrong})
    assert "r.toml, line 1: is not TOML" in text_of(refused)
