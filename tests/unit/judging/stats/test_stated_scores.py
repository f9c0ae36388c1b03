import pytest

from judging.stats.stated_verdicts import find_stated_score

SCALE = ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Score: 3", "3"),
        ("The rating is 2, since it forgets the budget.", "2"),
        ("I would rate this a 4.", "4"),
        ("It deserves a 5 for that", "5"),
        ("That makes 2 out of 5.", "2"),
        ("4/5", "4"),
        ("A score of 4.0 fits.", "4"),
        ("It books 3 tables for 4 people.", None),
        ("Not a score of 2, rather a score of 3.", None),
        ("I rate it 9.", None),
        ("The answer is polite.", None),
        ("", None),
    ],
)
def test_only_a_score_that_is_named_counts(text, score):
    assert find_stated_score(text, SCALE) == score
