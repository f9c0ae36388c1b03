"""Reading the database as it was at one moment, while others write."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from annotation.agreement.services import exports
from annotation.studies.models.studies import Study
from core.errors import InputError
from core.read_snapshot import iterate_in_snapshot, read_snapshot
from tests.support.factories import StudyFactory

pytestmark = pytest.mark.django_db(transaction=True)


def make_a_study():
    try:
        StudyFactory()
    finally:
        connection.close()


def elsewhere(act):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(act).result()


def test_what_others_write_meanwhile_is_not_seen_and_they_do_not_wait():
    StudyFactory()
    with read_snapshot():
        assert Study.objects.count() == 1
        elsewhere(make_a_study)
        assert Study.objects.count() == 1
    assert Study.objects.count() == 2


def test_a_full_disk_gives_the_moment_back():
    fmt = exports.Format("csv", "CSV", "", lambda _: (b"%d" % Study.objects.count() * 2**16 for _ in range(9)))
    with pytest.raises(InputError) as full:
        exports.write([], fmt, Path("/dev/full"))
    elsewhere(make_a_study)
    assert "No space left" in str(full.value)  # the error holds on to what was read
    assert Study.objects.count() == 1


def test_a_reader_that_is_left_gives_the_moment_back():
    StudyFactory()
    counts = iterate_in_snapshot(Study.objects.count() for _ in range(9))
    assert next(counts) == 1
    elsewhere(make_a_study)
    assert next(counts) == 1
    counts.close()
    assert Study.objects.count() == 2
    StudyFactory()  # and writing is allowed again
    assert Study.objects.count() == 3
