"""Three people who always choose the same response agree perfectly, whichever side it was shown on. Over real HTTP."""

from __future__ import annotations

import csv
import io
import json
import re
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest
from django.core.management import call_command

from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from annotation.workbench.services import assignments
from tests.support import factories

pytestmark = pytest.mark.any_database

PASSWORD = "three-of-one-mind"
N = 12
BEST = "This response names the allergy."
PEOPLE = ("bob", "carol", "dan")


@pytest.fixture
def study(transactional_db: None) -> Study:
    """Pairs of which one response is the better one: response 1 of every third pair, response 2 of the others."""
    for n in range(N):
        texts = {"response_1": BEST, "response_2": f"Cake {n}."}
        if n % 3:
            texts = {"response_1": f"Cake {n}.", "response_2": BEST}
        factories.ResponsePairFactory(**texts)
    alice = factories.ResearcherFactory(username="alice")
    people = [factories.UserFactory(username=name) for name in PEOPLE]
    for person in (alice, *people):
        person.set_password(PASSWORD)
        person.save()
    made = studies.create(by=alice, name="Sound", kind="pair", criteria=["preference"], overlap=3, seed=11)
    samples.draw(by=alice, study=made)
    assignments.add_annotators(by=alice, study=made, annotators=people)
    studies.open(by=alice, study=made)
    return made


def fetch(site: OpenerDirector, url: str, **form: str) -> tuple[str, str]:
    with site.open(url, data=urlencode(form).encode() if form else None, timeout=30) as answer:
        return answer.geturl(), answer.read().decode()


def hidden(page: str) -> dict[str, str]:
    """The hidden fields of a page's forms, by name."""
    return dict(re.findall(r'<input[^>]*type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"', page))


def sign_in(base: str, name: str) -> OpenerDirector:
    site = build_opener(HTTPCookieProcessor(CookieJar()))
    _, page = fetch(site, f"{base}/login/")
    fetch(site, f"{base}/login/", **hidden(page), login=name, password=PASSWORD)
    return site


def side_of_the_best(page: str) -> str:
    """The side on which the page shows the better response."""
    return "A" if page.index(BEST) < page.index("Cake ") else "B"


def rate_all(base: str, name: str) -> None:
    site = sign_in(base, name)
    for _ in range(N):
        address, page = fetch(site, f"{base}/work/sound/next/")
        fetch(site, address, **hidden(page), preference=side_of_the_best(page))


def exported(format: str, folder: Path) -> list[dict[str, Any]]:
    path = folder / f"labels.{format}"
    call_command("export", "--study", "Sound", "--format", format, "-o", str(path))
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)) if format == "csv" else [json.loads(line) for line in file]


@pytest.mark.long
def test_the_same_response_is_the_same_answer_on_either_side(live_server, study: Study, tmp_path: Path) -> None:
    for name in PEOPLE:
        rate_all(live_server.url, name)

    out = io.StringIO()
    call_command("agreement", "--study", "Sound", "--json", stdout=out)
    found = json.loads(out.getvalue())
    assert found["n_ratings"] == len(PEOPLE) * N
    assert found["coefficients"]["krippendorff_alpha"]["value"] == 1
    assert found["majority"]["counts"] == {"1": N // 3, "2": N - N // 3}

    for format in ("csv", "jsonl"):
        rows = exported(format, tmp_path)
        assert len(rows) == len(PEOPLE) * N
        assert {row["order"] for row in rows} == {"AB", "BA"}
        orders: dict[str, set[str]] = {}
        for row in rows:
            orders.setdefault(row["item_id"], set()).add(row["order"])
        assert any(len(shown) == 2 for shown in orders.values()), "the order is drawn for each assignment"
