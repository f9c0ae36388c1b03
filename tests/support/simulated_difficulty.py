"""Tables of drawn ratings."""

from annotation.stats.table import RatingTable
from tests.support import drawing


def table_of(codes, q, level, **more):
    n, r = codes.shape
    items, people = tuple(f"i{i}" for i in range(n)), tuple(f"r{j}" for j in range(r))
    return RatingTable(codes, tuple(range(1, q + 1)), level, items, people, **more)


def graded(n, r, q, rng):
    return drawing.draw_graded_model(r, q, rng)


def categories(n, r, q, rng):
    return drawing.categories(r, q, rng)


draw = drawing.draw
