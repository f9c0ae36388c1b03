from __future__ import annotations

import subprocess
import sys

import pytest

from core.jobs.backoff import PermanentError
from judging.judges.providers import REGISTRY, create
from judging.judges.providers.base import Provider
from tests.support.paths import ROOT


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_provider_can_be_made(name):
    assert isinstance(create(name, model="some-model", parameters={"concurrency": 3}), Provider)


@pytest.mark.parametrize("name", [name for name, one in REGISTRY.items() if one.label])
def test_every_provider_that_a_page_offers_is_documented(name):
    assert f"| `{name}` |" in (ROOT / "docs/judges.md").read_text(), "the first table of docs/judges.md"


def test_an_unknown_provider_is_named():
    with pytest.raises(PermanentError, match=f"'oracle'.*{', '.join(sorted(REGISTRY))}"):
        create("oracle")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"temprature": 0}, "temprature: Extra inputs"),
        ({"concurrency": 0}, "concurrency: .*greater than or equal to 1"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, message):
    with pytest.raises(PermanentError, match=message):
        create("anthropic", parameters=parameters)


def test_the_sdk_is_not_loaded_before_it_is_needed():
    code = "import sys, judging.judges.providers as p; p.create('baseline'); sys.exit('anthropic' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
