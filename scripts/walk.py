"""Print the walk of one request through the rooms: which it enters, how often it comes back to one.

    python scripts/walk.py rating        an annotator hands in an item
    python scripts/walk.py certificate   a researcher issues a certificate

A stop is a call from one room into another, counted once for the same two functions; a return is a stop in a room that
was entered before. Rooms are folders such as `annotation.workbench`; modules at the top of an app are one room.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
APPS = ("annotation", "judging", "simulation", "core", "config")

sys.path.insert(0, str(ROOT))
FOLDER = tempfile.TemporaryDirectory(prefix="concord walk ")
os.environ["CONCORD_DATA_DIR"] = FOLDER.name
os.environ["DATABASE_URL"] = ""
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django  # noqa: E402

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from annotation.studies.models.assignments import Assignment  # noqa: E402
from annotation.studies.models.studies import Study  # noqa: E402
from core.accounts.models.users import User  # noqa: E402
from judging.runs.models.runs import JudgeRun  # noqa: E402


def room_of(frame: FrameType) -> str | None:
    """Return the room of the code that a frame runs, such as annotation.workbench; None for other people's code."""
    try:
        parts = Path(frame.f_code.co_filename).relative_to(ROOT).with_suffix("").parts
    except ValueError:
        return None
    return ".".join(parts[: min(2, len(parts) - 1)]) if parts[0] in APPS else None


def watch(act: Callable[[], Any]) -> list[str]:
    """Do something and return the rooms entered, in order: one entry for each call from one room into another."""
    stops: list[str] = []
    seen: set[tuple[object, object]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (room := room_of(frame)) is None:
            return
        caller = frame.f_back
        while caller is not None and room_of(caller) is None:
            caller = caller.f_back
        if caller is not None and room_of(caller) == room:
            return
        walk = (caller and caller.f_code, frame.f_code)
        if walk not in seen:
            seen.add(walk)
            stops.append(f"{room}: {frame.f_code.co_qualname}")

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return stops


def hand_in(client: Client) -> Callable[[], Any]:
    """Sign in as an annotator of the demo, open an item, and return what hands it in."""
    anna = User.objects.get(username="anna")
    study = Study.objects.filter(kind="dialogue", annotators=anna).order_by("pk")[0]
    client.force_login(anna)
    page = client.get(f"/work/{study.slug}/next/", follow=True)
    address = page.redirect_chain[-1][0]
    slot = Assignment.objects.get(annotator=anna, state=Assignment.State.LEASED)
    answers = {criterion.key: criterion.categories[0]["value"] for criterion in study.criteria.all()}
    client.post(address, answers | {"seconds": "5"})  # once, so that what is loaded once is loaded
    assert Assignment.objects.get(pk=slot.pk).state == Assignment.State.SUBMITTED, "the rating was not taken"
    page = client.get(f"/work/{study.slug}/next/", follow=True)
    address = page.redirect_chain[-1][0]
    return lambda: client.post(address, answers | {"seconds": "5"})


def issue(client: Client) -> Callable[[], Any]:
    """Sign in as a researcher of the demo, and return what issues a certificate of the baseline judge."""
    client.force_login(User.objects.get(username="rosa"))
    call_command("judge", Study.objects.filter(kind="pair").order_by("pk")[0].name, judge="baseline", now=True)
    run = JudgeRun.objects.filter(judge__name="baseline", study__kind="pair").order_by("pk")[0]
    names = {"slug": run.study.slug, "pk": run.judge_id}
    assert client.get(reverse("judge_verdict", kwargs=names)).status_code == 200, "the verdict page did not answer"

    def post() -> None:
        answer = client.post(reverse("certificate_issue", kwargs=names))
        assert answer.status_code == 302, answer.content.decode()[:2000]

    return post


WALKS = {"rating": hand_in, "certificate": issue}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=sorted(WALKS))
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("collectstatic", interactive=False, verbosity=0)
    call_command("demo", no_model=True, verbosity=0)
    stops = watch(WALKS[given.what](Client()))
    rooms = {stop.split(":")[0] for stop in stops}
    found = {"stops": len(stops), "rooms": len(rooms), "returns": len(stops) - len(rooms), "walk": stops}
    if given.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{found['stops']} stops in {found['rooms']} rooms, {found['returns']} returns")
    print("\n".join(stops))


main()
