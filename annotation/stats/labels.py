"""Labels as they arrive (from files, forms and databases) and the one form in which they are compared."""

import math
from collections.abc import Callable, Iterable, Sequence

from annotation.stats.label_sets import parse_set, spell_set
from annotation.stats.rankings import check_responses, parse_ranking, responses_of, spell_ranking
from annotation.stats.spans import parse_spans, spell_spans

Label = str | int | float
"""What a rater can say: a category's text or a number."""

RANKING = "ranking"
"""The level at which a label is a ranking of an item's responses."""

WRITTEN = "written"
"""What stands for any text."""

Key = Callable[[object], float | str]


def is_missing(value: object) -> bool:
    """Whether ``value`` stands for "no rating": None, an empty text or a NaN."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float) and math.isnan(value)


def parse_number(value: Label) -> float | None:
    """The number that ``value`` is or spells, or None where it is a label.

    Raises ``ValueError`` on an infinite number: no scale has one.
    """
    if isinstance(value, str) and "_" in value:  # Python reads "1_000" as a number; people do not
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if math.isinf(number):
        raise ValueError(f"infinite value {value!r:.60}")
    return None if math.isnan(number) else number


def to_label_key(value: object) -> float | str:
    """What two spellings of one label share: ``1``, ``1.0`` and ``"1"`` are the same category."""
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if not isinstance(value, str | int | float):
        raise ValueError(f"a label must be a number or a text, not {value!r}")  # noqa: TRY004 - bad input, like every other bad label
    number = parse_number(value)
    return value.strip() if number is None else number  # type: ignore[union-attr]


def ranking_key_of(value: object) -> str:
    """What all spellings of one ranking share: ``B > C = A`` and ``B>A=C``. Raises ``ValueError`` on anything else."""
    return spell_ranking(parse_ranking(str(value)))


def set_key_of(value: object) -> str:
    """What all spellings of one set share: ``b|a`` and ``a | b``. Raises ``ValueError`` on anything else."""
    return spell_set(parse_set(str(value)))


def spans_key_of(value: object) -> str:
    """What all spellings of the same spans share. Raises ``ValueError`` on anything else."""
    return spell_spans(parse_spans(str(value)))


def text_key_of(value: object) -> str:  # noqa: ARG001
    """What all texts share: that one was written. They are counted, not compared."""
    return WRITTEN


KEYS: dict[str, Key] = {
    RANKING: ranking_key_of,
    "set": set_key_of,
    "spans": spans_key_of,
    "text": text_key_of,
}
"""By level whose labels are no categories: what all spellings of one label share."""


def infer_categories(values: Iterable[object]) -> tuple[Label, ...]:
    """The distinct labels in ``values``: in numeric order where all are numbers, otherwise alphabetical.

    Only for files that come without a scale. A criterion knows its categories, used or not.
    """
    keys = {to_label_key(value) for value in values if not is_missing(value)}
    numbers = [key for key in keys if isinstance(key, float)]
    if len(numbers) == len(keys):
        return tuple(int(x) if x.is_integer() else x for x in sorted(numbers))
    return tuple(sorted(_spelled(key) for key in keys))


def infer_scale(values: Iterable[object], level: str) -> tuple[Label, ...]:
    """The categories of ratings that come without a scale, for a scale of the given level; where every answer is one
    of its own (rankings, sets, spans), those given.

    Raises ``ValueError`` where an ordered scale has labels: they may be a slip ("n/a" among scores), and their
    alphabetical order is not the one that is meant. Also where rankings are of different responses.
    """
    if level in KEYS:
        return tuple(sorted({str(KEYS[level](value)) for value in values if not is_missing(value)}))
    scale = infer_categories(values)
    labels = [category for category in scale if parse_number(category) is None]
    if level == "nominal" or not labels:
        return scale
    beside = next((f" beside {category}" for category in scale if parse_number(category) is not None), "")
    raise ValueError(
        f"level {level} needs numbers, or its categories in order: {labels[0]!r}{beside} has no place among them"
    )


def are_mixed(categories: Sequence[Label]) -> bool:
    """Whether some categories are numbers and some are not."""
    return len({parse_number(category) is None for category in categories}) == 2


def _spelled(key: float | str) -> str:
    return f"{key:g}" if isinstance(key, float) else key


class Coder:
    """Turns labels into positions on a scale (0 … q - 1) of a level, and a missing value into -1.

    Raises ``ValueError`` where a category stands twice, or rankings are of different responses.
    """

    def __init__(self, categories: Sequence[Label], level: str = "nominal") -> None:
        self._key = KEYS.get(level, to_label_key)
        self._position = {self._key(category): code for code, category in enumerate(categories)}
        if level == RANKING:
            for category in categories:
                check_responses(str(category), responses_of(str(categories[0])))
        self._scale = ", ".join(str(category) for category in categories[:12])
        if len(self._position) != len(categories):
            raise ValueError(f"a category stands twice on the scale: {self._scale}")

    def code(self, value: object) -> int:
        """The position of ``value``. Raises ``ValueError`` where it is not on the scale."""
        if is_missing(value):
            return -1
        try:
            return self._position[self._key(value)]
        except KeyError:
            raise ValueError(f"{value!r} is not on the scale ({self._scale})") from None
