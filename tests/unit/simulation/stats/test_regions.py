import json
from collections import Counter

import pytest

from simulation.stats.regions import _COUNTRIES, find_region
from tests.unit.annotation.stats.data import shared


@pytest.mark.parametrize(
    ("country", "region"),
    [
        ("Korea, Republic of", "Asia"),
        ("Congo, The Democratic Republic of the", "Africa"),
        ("United States", "US"),
        ("N/A", "Prefer not to say"),
        ("Atlantis", "Other"),
    ],
)
def test_the_region_of_a_country(country, region):
    assert find_region(country) == region


def test_no_country_stands_in_two_regions():
    names = Counter(name for countries in _COUNTRIES.values() for name in countries.split("; "))
    assert [name for name, n in names.items() if n > 1] == []


def test_every_country_of_the_published_profiles_is_known():
    for file in sorted(shared("personalens/profile").glob("*/profile.json")):
        person = json.loads(file.read_text(encoding="utf-8"))["demographics"]
        for field in ("birth_country", "reside_country"):
            assert find_region(person[field]) != "Other", person[field]
