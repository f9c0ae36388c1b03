"""Combinations of traits by lot, and texts that are not nearly the same."""

from __future__ import annotations

from simulation.stats.drawing import combine, distinct

SEEDS = [{"diet": f"diet {k}", "work": f"work {k}", "age": str(k)} for k in range(5)]


def test_the_first_are_the_seeds_and_the_others_mix_them():
    found = combine(SEEDS, 60, seed=1)
    assert [traits for _, traits in found[:5]] == SEEDS
    assert combine(SEEDS, 60, seed=1) == found
    assert combine(SEEDS, 60, seed=2) != found
    assert len({repr(traits) for _, traits in found}) == len(found) == 60
    for base, traits in found:
        assert set(traits) == set(SEEDS[base])
        assert all(traits[name] in {one[name] for one in SEEDS} for name in traits)
    kept = [traits[name] == SEEDS[base][name] for base, traits in found[5:] for name in traits]
    # a value stays with probability 1/2 + 1/2 * 1/5 = .6, less the combinations that are there: 165 draws
    assert 0.4 < sum(kept) / len(kept) < 0.75


def test_no_more_come_back_than_there_are():
    assert len(combine([{"diet": "vegan"}], 10, seed=0)) == 1


def test_an_earlier_text_keeps_out_a_later_one_that_is_nearly_the_same():
    texts = ["a long text about bridges", "a long text about bridges!", "something else", "a long text about bridges"]
    assert distinct(texts) == [0, 2]
    assert distinct(texts, near=100) == [0, 1, 2]
    assert distinct([]) == []
