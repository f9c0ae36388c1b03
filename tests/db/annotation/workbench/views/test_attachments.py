"""A picture goes to who may see its item, and a browser can do nothing with it but show it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpus import services
from annotation.corpus.models import AttachmentUse, Dialogue
from tests.support.factories import DialogueFactory, MembershipFactory, UserFactory
from tests.support.media import png
from tests.support.people import OpenStudy

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def attachments_folder(settings, tmp_path):
    settings.ATTACHMENTS = tmp_path


@pytest.fixture
def address(open_study: OpenStudy, bob) -> str:
    """Of a picture of the only item of a study in which bob rates."""
    open_study([bob], items=1)
    stored = services.store_attachment(png(), name="a.png")
    AttachmentUse.objects.create(attachment=stored, dialogue=Dialogue.objects.get())
    return reverse("attachment", args=[stored.sha256])


def get(person, address: str):
    client = Client()
    if person:
        client.force_login(person)
    answer = client.get(address)
    return answer.status_code, b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_it_goes_to_who_rates_its_item(address, bob):
    assert get(bob, address)[0] == 404  # not given the item yet
    client = Client()
    client.force_login(bob)
    client.get("/work/pilot/next/")
    answer = client.get(address)
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content) == png()
    assert answer["Content-Type"] == "image/png"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer["Content-Disposition"].startswith("inline; filename=")


def test_it_goes_to_researchers_and_to_who_decides(address, alice):
    assert get(alice, address) == (200, png())
    project = Dialogue.objects.get().items.get().study.project
    assert get(MembershipFactory(project=project, role="adjudicator").user, address)[0] == 200


def test_it_goes_to_nobody_else(address):
    assert get(None, address)[0] == 302
    assert get(UserFactory(), address)[0] == 404
    assert get(MembershipFactory(role="adjudicator").user, address)[0] == 404


SIZE = len(png())


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [
        ("bytes=0-", 0, SIZE - 1),
        ("bytes=0-1", 0, 1),
        ("bytes=8-11", 8, 11),
        (f"bytes={SIZE - 3}-{SIZE + 99}", SIZE - 3, SIZE - 1),
        ("bytes=-5", SIZE - 5, SIZE - 1),
        ("bytes=-999999", 0, SIZE - 1),
    ],
)
def test_a_range_of_it_is_sent(address, alice, client, wanted, first, last):
    client.force_login(alice)
    answer = client.get(address, headers={"range": wanted})
    assert answer.status_code == 206
    assert answer["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
    assert answer.content == png()[first : last + 1]
    assert answer["Content-Type"] == "image/png"
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("wanted", [f"bytes={SIZE}-", "bytes=9-3", "bytes=-0", "bytes=999999999999999999-"])
def test_a_range_outside_of_it_is_refused_with_its_size(address, alice, client, wanted):
    client.force_login(alice)
    answer = client.get(address, headers={"range": wanted})
    assert (answer.status_code, answer["Content-Range"], answer.content) == (416, f"bytes */{SIZE}", b"")


@pytest.mark.parametrize("wanted", ["bytes=-", "bytes=0-1,4-5", "items=0-1", "bytes=a-b", f"bytes={'9' * 5000}-"])
def test_what_names_no_range_gets_all(address, alice, client, wanted):
    client.force_login(alice)
    answer = client.get(address, headers={"range": wanted})
    assert (answer.status_code, answer["Accept-Ranges"]) == (200, "bytes")
    assert b"".join(answer.streaming_content) == png()


def test_one_that_is_lost_is_not_found(address, alice, tmp_path):
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.unlink()
    assert get(alice, address)[0] == 404


@pytest.mark.parametrize("name", ["0" * 64, "x", "..", "a-b"])
def test_what_is_none_is_not_found(alice, name):
    assert get(alice, f"/attachments/{name}/")[0] in (302, 404)


def test_the_page_of_the_item_shows_it(address, alice):
    dialogue = DialogueFactory(
        turns=[
            {
                "role": "user",
                "content": "[image: a.png]",
                "parts": [{"kind": "image", "start": 0, "end": 14, "sha256": address.split("/")[2], "alt": "a <cat>"}],
            }
        ]
    )
    page = " ".join(get(alice, reverse("dialogue_detail", args=[dialogue.pk]))[1].decode().split())
    assert f'<img src="{address}" alt="a &lt;cat&gt;"' in page
