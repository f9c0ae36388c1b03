"""Which items of a study to label next."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dialogue
from tests.judging.services.trust.judged import study

pytestmark = pytest.mark.django_db


def run(**options):
    out = io.StringIO()
    chosen = {"study": "Known", "judge": "gpt", "criterion": "personalization", **options}
    call_command("plan_labels", json=True, stdout=out, **chosen)
    return json.loads(out.getvalue())


def test_only_unlabelled_items_are_next_and_their_number_is_what_is_missing():
    study(n=120, labelled=30)
    found = run(width=0.42)
    assert found["needed"]["labelled"] == 30
    assert found["needed"]["with_judge"] < found["needed"]["without_judge"]
    assert len(found["items"]) == found["needed"]["more"] > 0
    assert all(item["position"] > 30 and 0 < item["probability"] <= 1 for item in found["items"])
    assert run(width=0.42) == found
    assert run(width=3.0)["items"] == []


def test_labels_are_allocated_over_groups():
    criterion = study(n=120, labelled=30)
    halves = ((range(1, 61), "fern"), (range(61, 121), "moss"))
    for places, name in halves:
        Dialogue.objects.filter(items__study=criterion.study, items__position__in=places).update(assistant_model=name)
    found = run(width=0.42, by="assistant")
    assert sum(found["allocation"].values()) == found["needed"]["more"]
    assert set(found["allocation"]) == {"fern", "moss"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0.0}, "above 0"),
        ({"width": 0.42, "by": "colour"}, "not grouped by 'colour'"),
        ({"width": 0.42, "criterion": "other"}, "no criterion is called 'other'"),
    ],
)
def test_bad_usage_says_what_is_wrong(options, message):
    study(n=30)
    with pytest.raises(CommandError, match=message):
        run(**options)


def test_too_few_labels_make_no_plan():
    study(n=30, labelled=5)
    found = run(width=0.42)
    assert "a plan needs 10" in found["reason"]
    assert found["items"] == []
