"""Where somebody stands in the queue of a study: read by one statement, so that its figures fit together.

Sixty people wait for these at once, so that the statements are written out (`core.statements`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.statements import row

LOOK_AHEAD = 200  # items left that are counted at most

LAST = """
    SELECT number, rank FROM annotation_assignment
    WHERE annotator_id = %(me)s AND study_id = %(study)s AND number IS NOT NULL
    ORDER BY number DESC LIMIT 1
"""

FREE = """
    SELECT count(*) AS n FROM (
        SELECT DISTINCT rank FROM annotation_assignment AS slot
        WHERE study_id = %(study)s AND state = 'open' AND RANKS coalesce((SELECT rank FROM last), 0)
            AND NOT EXISTS (
                SELECT 1 FROM annotation_assignment AS mine
                WHERE mine.item_id = slot.item_id AND mine.annotator_id = %(me)s
            )
        ORDER BY rank LIMIT %(most)s
    ) AS ranks
"""

STANDING = """
WITH last AS (LAST)
SELECT
    EXISTS (
        SELECT 1 FROM annotation_exclusion
        WHERE study_id = %(study)s AND annotator_id = %(me)s AND ended_at IS NULL
    ),
    (SELECT consent_text_id FROM annotation_intake WHERE study_id = %(study)s),
    (
        SELECT CASE WHEN decision = 'agreed' THEN text_id END FROM annotation_consentdecision
        WHERE study_id = %(study)s AND annotator_id = %(me)s
        ORDER BY id DESC LIMIT 1
    ),
    (
        SELECT id FROM annotation_assignment
        WHERE annotator_id = %(me)s AND study_id = %(study)s AND state = 'leased'
            AND purpose IN ('rating', 'repeat', 'check') AND id NOT IN (HELD)
        ORDER BY started_at, rank LIMIT 1
    ),
    (SELECT number FROM last),
    (SELECT rank FROM last)
FROM annotation_study_annotators WHERE study_id = %(study)s AND user_id = %(me)s
""".replace("LAST", LAST)  # nosec B608 # words of this file are put together; what comes from outside are parameters

COUNTS = (
    """
WITH last AS (LAST), ahead AS (AHEAD), held AS (
    SELECT
        count(CASE WHEN state = 'submitted' THEN 1 END) AS rated,
        count(CASE WHEN state <> 'submitted' THEN 1 END) AS unfinished
    FROM annotation_assignment
    WHERE annotator_id = %(me)s AND study_id = %(study)s AND purpose IN ('rating', 'repeat', 'check')
)
SELECT
    (SELECT rated FROM held),
    (SELECT unfinished FROM held),
    coalesce((SELECT number FROM last), 0),
    (SELECT n FROM ahead) + CASE WHEN (SELECT n FROM ahead) >= %(most)s THEN 0 ELSE (BEHIND) END
""".replace("LAST", LAST)  # nosec B608 # as above
    .replace("AHEAD", FREE.replace("RANKS", "rank >"))
    .replace("BEHIND", FREE.replace("RANKS", "rank <="))
)


@dataclass(frozen=True)
class Last:
    """Where they are in the queue, and how many items they have been given; 0 before the first."""

    rank: int
    number: int


@dataclass(frozen=True)
class QueuePosition:
    """What decides whether and what an annotator of a study is given next.

    `in_work` is the id of the slot that they have in work the longest, without those that their page holds.
    """

    is_excluded: bool
    owes_consent: bool
    in_work: int | None
    last: Last


@dataclass(frozen=True)
class QueueCounts:
    """Items that they have rated and hold unfinished, how many they have been given in all, and how many are free."""

    rated: int
    unfinished: int
    number: int
    free: int


def load_queue_position(annotator: User, study: Study, holding: Collection[int] = ()) -> QueuePosition | None:
    """Where they stand, or None for somebody who is no annotator of the study. `holding` are ids of slots."""
    held = {f"held{place}": pk for place, pk in enumerate(holding)} or {"held0": 0}
    statement = STANDING.replace("HELD", ", ".join(f"%({name})s" for name in held))
    found = row(statement, {"me": annotator.pk, "study": study.pk, **held})
    if found is None:
        return None
    is_excluded, asked, agreed, in_work, number, rank = found
    owes = asked is not None and asked != agreed
    return QueuePosition(bool(is_excluded), owes, in_work, Last(rank or 0, number or 0))


def load_last_taken(annotator: User, study: Study) -> Last:
    """The item that they were given last, whether or not they are still an annotator of the study."""
    number, rank = row(LAST, {"me": annotator.pk, "study": study.pk}) or (0, 0)
    return Last(rank, number)


def counts(annotator: User, study: Study) -> QueueCounts:
    """How far they have come. What is free is counted up to LOOK_AHEAD, so that a large study costs no more."""
    found = row(COUNTS, {"me": annotator.pk, "study": study.pk, "most": LOOK_AHEAD})
    rated, unfinished, number, free = found or (0, 0, 0, 0)
    return QueueCounts(rated, unfinished, number, min(free, LOOK_AHEAD))
