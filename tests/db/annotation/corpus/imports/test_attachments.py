"""Pictures and sounds that come with records: stored once, or refused with a reason that names them."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from annotation.corpus.imports import records, tables
from annotation.corpus.models import Attachment, AttachmentUse, Dialogue, ResponsePair
from annotation.corpus.parsing.mappings import parse_mapping
from annotation.corpus.services import locate
from core.errors import InputError
from core.files.input_files import InputFile
from tests.support.media import JPEG, SVG, png, wav

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def attachments_folder(settings, tmp_path):
    settings.ATTACHMENTS = tmp_path / "stored"


def dialogue(*parts: dict, identity: str = "d") -> dict:
    return {"id": identity, "turns": [{"role": "user", "content": [{"type": "text", "text": "See:"}, *parts]}]}


def write(folder: Path, *rows: dict, **files: bytes) -> InputFile:
    folder.mkdir(exist_ok=True)
    (folder / "f.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for name, data in files.items():
        (folder / name.replace("__", ".")).write_bytes(data)
    return InputFile.from_path(folder / "f.jsonl", "f.jsonl")


def load(folder: Path, *rows: dict, kind: str = "dialogues", on_error: str = "stop", **files: bytes) -> dict:
    file = write(folder, *rows, **files)
    return records.load(by=None, kind=kind, file=file, attachments=folder, on_error=on_error).to_document()


def image(name: str) -> dict:
    return {"type": "image", "file": name}


def test_a_picture_of_a_folder_is_stored_under_its_hash(tmp_path):
    load(tmp_path / "in", dialogue(image("cat.png")), cat__png=png())
    sha256 = hashlib.sha256(png()).hexdigest()
    stored = Attachment.objects.get()
    assert (stored.sha256, stored.type, stored.size) == (sha256, "image/png", len(png()))
    assert locate(sha256).read_bytes() == png()
    (turn,) = Dialogue.objects.get().turns
    assert turn["content"] == "See:\n\n[image: cat.png]"
    assert turn["parts"][1]["sha256"] == sha256
    assert "file" not in turn["parts"][1]
    assert stored.uses.get().dialogue == Dialogue.objects.get()


def test_the_same_bytes_are_stored_once_and_importing_twice_changes_nothing(tmp_path):
    rows = [dialogue(image("a.png"), identity="1"), dialogue(image("b.png"), identity="2")]
    load(tmp_path / "in", *rows, a__png=png(), b__png=png())
    assert (Attachment.objects.count(), AttachmentUse.objects.count()) == (1, 2)
    assert load(tmp_path / "in", *rows)["unchanged"] == {"dialogues": 2}
    assert AttachmentUse.objects.count() == 2


def chat(data: bytes) -> dict:
    address = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    asked = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": address}}]
    return {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": "A square."}]}


def load_chats(folder: Path, *rows: dict, on_error: str = "stop") -> dict:
    mapping = parse_mapping({"format": "openai"})
    return tables.load(by=None, file=write(folder, *rows), mapping=mapping, on_error=on_error).to_document()


def test_a_picture_within_a_chat_in_another_tools_format_is_stored(tmp_path):
    load_chats(tmp_path / "in", chat(png()))
    use = AttachmentUse.objects.get()
    assert (use.dialogue, use.attachment.sha256) == (Dialogue.objects.get(), hashlib.sha256(png()).hexdigest())


def test_a_picture_in_a_mapped_column_is_stored(tmp_path):
    asked = chat(png())["messages"][0]["content"]
    rows = {"key": "1", "prompt": asked, "good": "A square.", "bad": "A circle."}
    columns = {"id": "key", "question": "prompt", "chosen": "good", "rejected": "bad"}
    mapping = parse_mapping({"kind": "pairs", "columns": columns})
    tables.load(by=None, file=write(tmp_path / "in", rows), mapping=mapping)
    pair = ResponsePair.objects.get()
    assert pair.question.startswith("What is it?")
    assert "base64" not in pair.question
    assert AttachmentUse.objects.get().pair == pair


def test_a_chat_whose_picture_is_none_is_refused_alone(tmp_path):
    with pytest.raises(InputError, match=r"f\.jsonl.*line 1.*parts"):
        load_chats(tmp_path / "in", chat(SVG))
    found = load_chats(tmp_path / "in", chat(SVG), chat(png()), on_error="skip")
    assert (found["created"], len(found["skipped"])) == ({"dialogues": 1}, 1)


def test_a_picture_that_changed_under_its_name_changes_the_dialogue(tmp_path):
    load(tmp_path / "in", dialogue(image("a.png")), a__png=png())
    assert load(tmp_path / "in", dialogue(image("a.png")), a__png=png(9))["updated"] == {"dialogues": 1}
    assert AttachmentUse.objects.get().attachment.sha256 == hashlib.sha256(png(9)).hexdigest()


def test_pictures_and_sounds_in_the_records_themselves(tmp_path):
    shown = base64.b64encode(png()).decode()
    heard = base64.b64encode(wav()).decode()
    load(
        tmp_path / "in",
        dialogue(
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{shown}"}},
            {"type": "input_audio", "input_audio": {"format": "wav", "data": heard}},
        ),
    )
    assert sorted(Attachment.objects.values_list("type", flat=True)) == ["audio/wav", "image/png"]
    assert shown not in json.dumps(Dialogue.objects.get().turns)


def test_an_archive_holds_the_records_with_their_files(tmp_path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "data/f.jsonl",
            json.dumps({"id": 1, "question": [image("img/q.png")], "response_1": "a", "response_2": "b"}),
        )
        archive.writestr("data/img/q.png", png())
    records.load(by=None, kind="pairs", file=InputFile.from_path(path, "all.zip"))
    pair = ResponsePair.objects.get()
    assert pair.parts["question"][0]["sha256"] == hashlib.sha256(png()).hexdigest()
    assert AttachmentUse.objects.get().pair == pair


@pytest.mark.parametrize(
    ("part", "files", "says"),
    [
        (image("a.png"), {"a__png": JPEG}, "a.png says that it is image/png, but is image/jpeg"),
        (image("a.png"), {"a__png": b"<html><script>alert(1)</script>"}, "is none of PNG"),
        (image("a.svg"), {"a__svg": SVG}, "is an SVG drawing, which can hold scripts"),
        (image("a.png"), {"a__png": SVG}, "is an SVG drawing, which can hold scripts"),
        (image("a.wav"), {"a__wav": wav()}, "stands for a part of type image, but is audio/wav"),
        (image("a.png"), {"a__png": png() + bytes(2000)}, "an attachment may have 0.00095"),
        (image("none.png"), {}, "none.png is missing among the attachments"),
        (image("../f.jsonl"), {}, "lies outside of the attachments"),
        (image("/etc/passwd"), {}, "lies outside of the attachments"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}}, {}, "is not in base64"),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 9000}"}},
            {},
            "an attachment may have",
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/gif;base64,{base64.b64encode(png()).decode()}"}},
            {},
            "says that it is image/gif, but is image/png",
        ),
    ],
)
def test_what_lies_is_too_large_or_missing_is_refused(settings, tmp_path, part, files, says):
    settings.MAX_ATTACHMENT_BYTES = 1000
    with pytest.raises(InputError, match=says.replace("(", r"\(")) as raised:
        load(tmp_path / "in", dialogue(part), **files)
    assert (raised.value.line, raised.value.field) == (1, "parts")
    assert Dialogue.objects.count() == Attachment.objects.count() == 0


def test_a_file_of_five_gigabytes_is_refused_unread(tmp_path):
    (tmp_path / "in").mkdir()
    with (tmp_path / "in" / "a.png").open("wb") as file:
        file.truncate(5 * 1024**3)  # sparse: it takes no room
    with pytest.raises(InputError, match=r"a.png has 5,120.0 MB, and an attachment may have 20 MB"):
        load(tmp_path / "in", dialogue(image("a.png")))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.png").write_bytes(png())
    (tmp_path / "in" / "a.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(InputError, match="lies outside"):
        load(tmp_path / "in", dialogue(image("a.png")))


def test_bad_ones_are_set_aside_and_the_rest_is_kept(tmp_path):
    rows = [dialogue(image("no.png"), identity="bad"), dialogue(image("a.png"), identity="good")]
    outcome = load(tmp_path / "in", *rows, on_error="skip", a__png=png())
    assert [one["line"] for one in outcome["skipped"]] == [1]
    assert Dialogue.objects.get().external_id == "good"


def test_files_beside_the_records_need_to_be_given(tmp_path):
    file = write(tmp_path / "in", dialogue(image("a.png")), a__png=png())
    with pytest.raises(InputError, match="give the folder, or a ZIP file"):
        records.load(by=None, kind="dialogues", file=file)


def test_what_was_exported_is_read_back_where_its_attachments_are(tmp_path):
    load(tmp_path / "in", dialogue(image("a.png")), a__png=png())
    turns = Dialogue.objects.get().turns
    load(tmp_path / "in", {"id": "again", "turns": turns})
    assert Dialogue.objects.get(external_id="again").turns == turns
    Attachment.objects.all().delete()
    with pytest.raises(InputError, match=r"the attachment a.png is not on this site"):
        load(tmp_path / "in", {"id": "third", "turns": turns})
