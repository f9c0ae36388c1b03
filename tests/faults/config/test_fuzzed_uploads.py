"""A few hundred spoilt files; `python scripts/fuzz_imports.py` tries twenty thousand."""

from __future__ import annotations

import pytest

from tests.support import fuzzed

pytestmark = pytest.mark.django_db

N = 300


def test_every_spoilt_file_is_refused_in_words_or_imported_with_true_counts(tmp_path):
    importers = fuzzed.prepared(tmp_path)
    for importer in importers:  # unspoilt, they are fine
        tally = fuzzed.Tally()
        fuzzed.tried(importer, importer.files, tmp_path / "good" / importer.name, tally, importer.name)
        assert (importer.name, tally.imported, tally.failures) == (importer.name, 1, [])
    tallies = fuzzed.run(importers, N, 20261122, tmp_path)
    assert [failure for tally in tallies.values() for failure in tally.failures] == []
    assert sum(tally.imported for tally in tallies.values()) > 0
    assert sum(tally.refused for tally in tallies.values()) > N / 4
