"""The tables of an experiment, those of PersonaLens under their numbers. All have one shape: rows by estimates.

Means are over dialogues and resample profiles; differences are within scenario. Where the paper shows one condition, so
does the table: base where the experiment has it, else its first, unless a filter names another. Assistants are never
pooled: where there are several, each has its rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray, FloatArray
from annotation.stats.words import words
from simulation.agents.prompts import CONDITIONS
from simulation.results.queries import judgments
from simulation.results.queries.judgments import NO_DOMAIN, SEVERAL, Names, sort_names
from simulation.results.result_types import TableDocument
from simulation.results.services.columns import (
    DIALOGUES,
    DRIFT,
    OF_ASSISTANT,
    OF_CHECKS,
    OF_POOLED,
    OF_SIZE,
    OF_TALK,
    OF_USER,
    OF_VARIETY,
    PUBLISHED,
    Column,
    P,
    describe_column,
)
from simulation.results.services.data import TASKS
from simulation.results.services.sheet import NOT_SCORED, Row, Sheet, count, figure
from simulation.stats.cells import NO_PAIR, mean_of_means
from simulation.stats.diversity import NO_INTERVAL
from simulation.stats.variety import Texts, bleu_among, mean_by_group, variety

ALL_SINGLE = "all of one domain"
WHOLE = "base+I"
"""The condition with the history as it is."""


class Tables(Sheet):
    """Every table, a method each."""

    def build(self, key: str) -> TableDocument:
        made: TableDocument = getattr(self, key)()
        return made

    # tables of the paper

    def assistants_table(self) -> TableDocument:
        """Table 3: what the judge said of each assistant, for tasks of one and of several domains."""
        return self.build_judged_table(
            "assistants", "Assistants", self.list_task_rows(), PUBLISHED, "Tasks of", self.of_condition
        )

    def ablation_table(self) -> TableDocument:
        """Table 4: conditions, for tasks of one and of several domains."""
        return self.build_judged_table("ablation", "Conditions", self.list_condition_rows(), PUBLISHED, "Tasks of")

    def list_condition_rows(self) -> list[Row]:
        return [
            Row(
                CONDITIONS[key].name,
                self.mask_assistant(assistant) & self.mask_condition(key) & self.mask_tasks(kind),
                group,
                key,
            )
            for kind, name in TASKS.items()
            for assistant in self.assistants
            for group in [f"{name}, {assistant}" if self.group_of(assistant) else name]
            for key in self.conditions
        ]

    def list_regular_rows(self) -> list[Row]:
        """Rows of tasks with the dialogues that ended normally, as far as there are any."""
        rows = [Row(row.name, row.where & self.played.is_regular, row.group, row.key) for row in self.list_task_rows()]
        return self.select_filled(rows)

    def variety_table(self) -> TableDocument:
        """Table 10: how varied the words of the dialogues are, of each dialogue and of all together."""
        rows = self.list_regular_rows()
        each = self.cells(rows, OF_VARIETY)
        cells = [
            [count(row), *found, *pool_diversity(self.played.pk[row.where].tolist())]
            for row, found in zip(rows, each, strict=True)
        ]
        note = (
            f"{self.of_condition}; words of both sides, punctuation marks included; BLEU up to four words; first the "
            "mean over dialogues, then all texts together, which depends on how many there are"
        )
        columns = (DIALOGUES, *OF_VARIETY, *OF_POOLED)
        return self.table("variety", "Diversity of words", rows, cells, columns, "Tasks of", note)

    def user_table(self) -> TableDocument:
        """Table 12: quality of the user agent with each assistant. The paper has tasks of one domain."""
        return self.build_judged_table(
            "user_agent", "User agent", self.list_task_rows(), OF_USER, "Tasks of", self.of_condition
        )

    def checks_table(self) -> TableDocument:
        """Whether the user agent is true to its part, where a judge was asked; the rates are of the judge's yes."""
        is_asked = self.data.verdicts.is_asked if self.data.verdicts else {}
        rows = self.list_task_rows() if any(one.key in is_asked for one in OF_CHECKS) else []
        return self.build_judged_table(
            "user_checks", "Is the user real?", rows, OF_CHECKS, "Tasks of", self.of_condition
        )

    def size_table(self) -> TableDocument:
        """Table 13: how long the dialogues are. The paper does not say whether a turn is a message or an exchange."""
        rows = self.list_regular_rows()
        cells = [[count(row), *(self.estimate_size(row, one) for one in OF_SIZE)] for row in rows]
        note = (
            f"{self.of_condition}; an exchange is a reply of the assistant and the user's next message; words per "
            "message are all words over all messages; the paper prints turns and tokens, not which of these it means"
        )
        return self.table("size", "Size of the dialogues", rows, cells, (DIALOGUES, *OF_SIZE), "Tasks of", note)

    def estimate_size(self, row: Row, column: Column) -> Estimate:
        """A mean over dialogues, or all words over all messages: a mean weighted by the messages of each."""
        if not column.per:
            return self.means([np.where(row.where, self.value(column), np.nan)])[0]
        columns = self.data.measures.columns
        whole, parts = columns["tokens" if column.key.startswith("tokens") else "words"], columns[column.per]
        each = np.where(row.where & (parts > 0), whole / np.where(parts > 0, parts, 1.0), np.nan)
        return self.means([each], "nothing was counted here", np.where(np.isnan(each), 0.0, parts))[0]

    def domains_table(self) -> TableDocument:
        """Figure 4: tasks by their domain, with the mean of the domains, each of the same weight, and that of all."""
        rows, cells = [], []
        for assistant in self.assistants:
            mine, group = self.usual & self.mask_assistant(assistant), self.group_of(assistant)
            by_domain = self.list_domain_rows(assistant)
            single = [row.where for row in by_domain if row.name not in (SEVERAL, NO_DOMAIN)]
            means = [self.mean_of_rows(single, column) for column in PUBLISHED] if single else []
            rows += [*by_domain, *([Row("mean of domains", mine, group, "mean")] if means else [])]
            rows.append(Row("all", mine, group, "all"))
            cells += [*self.cells(by_domain, PUBLISHED), *([means] if means else []), *self.cells(rows[-1:], PUBLISHED)]
        note = f"{self.of_condition}; the mean of domains is of tasks of one domain, every domain with the same weight"
        return self.table("domains", "Domains", *self.if_judged(rows, cells), PUBLISHED, "Assistant", note)

    def list_domain_rows(self, assistant: str) -> list[Row]:
        """A row of each domain that the assistant has dialogues in."""
        names = sorted(set(sort_names(self.played.domain)), key=lambda name: (name in (SEVERAL, NO_DOMAIN), name))
        mine, group = self.usual & self.mask_assistant(assistant), self.group_of(assistant)
        return self.select_filled([Row(name, mine & (self.played.domain == name), group) for name in names])

    def mean_of_rows(self, rows: Sequence[BoolArray], column: Column) -> Estimate:
        values = self.value(column)
        return mean_of_means(
            [np.where(where, values, np.nan) for where in rows],
            self.profiles,
            bootstrap=self.options.bootstrap,
            confidence=self.options.confidence,
            seed=self.options.seed,
            reason=NOT_SCORED,
            ends=column.ends,
        )

    def turns_table(self) -> TableDocument:
        """Figure 5: personalization by reply of the assistant, where turns were judged."""
        asked = self.compute_by_reply()
        curves = [(row, turn) for row in self.curves() for turn in asked]
        rows = [Row(str(turn), row.where, row.group, row.group) for row, turn in curves]
        columns = [np.where(row.where, asked[turn], np.nan) for row, turn in curves]
        cells = [[cell] for cell in self.means(columns, "no dialogue got so far", of=(P,))] if rows else []
        note = (
            f"{self.of_condition}; turn n is the assistant's n-th reply, message 2n of the dialogue; later turns are "
            "of longer dialogues only"
        )
        return self.table("turns", "Personalization by turn", rows, cells, (P,), "Tasks", note)

    def compute_by_reply(self) -> dict[int, FloatArray]:
        """(n,) personalization of each reply of the assistant that was judged, by its number from 1."""
        said = self.data.verdicts.of_turns.get(P.key, {}) if self.data.verdicts else {}
        return {turn // 2: values for turn, values in said.items() if self.data.turn in (None, turn // 2)}

    @property
    def of_curve(self) -> str:
        """What each curve is of."""
        return "Assistant" if len(self.assistants) > 1 else "Domain"

    def curves(self) -> list[Row]:
        """Of one assistant all tasks of one domain, and each domain; of several, each with all tasks of one domain."""
        single = self.usual & self.mask_tasks("single")
        if len(self.assistants) > 1:
            found = [Row("", single & self.mask_assistant(assistant), assistant) for assistant in self.assistants]
        else:
            names = sorted(set(sort_names(self.played.domain)) - {SEVERAL, NO_DOMAIN})
            found = [
                Row("", single, ALL_SINGLE),
                Row("", self.usual & self.mask_tasks("multi"), SEVERAL),
                *(Row("", single & (self.played.domain == name), name) for name in names),
            ]
        return self.select_filled(found)

    # other tables

    def differences_table(self) -> TableDocument:
        """Each condition minus the first with the same assistant, and each assistant minus the first."""
        rows: list[Row] = []
        columns: list[FloatArray] = []
        if self.data.verdicts and len(self.played):
            condition, others = self.played.condition, self.conditions[1:]
            self.differ(rows, columns, condition, self.conditions[:1] + others, self.played.assistant, self.assistants)
            self.differ(rows, columns, self.played.assistant, self.assistants, condition, self.conditions)
        found, width = self.means(columns, NO_PAIR), len(OF_ASSISTANT)
        cells = [found[start : start + width] for start in range(0, len(found), width)]
        table = self.table("differences", "Differences", rows, cells, OF_ASSISTANT, "With", "within the same scenario")
        return {**table, "columns": [describe_column(column, is_difference=True) for column in OF_ASSISTANT]}

    def differ(
        self,
        rows: list[Row],
        columns: list[FloatArray],
        names: Names,
        of: Sequence[str],
        others: Names,
        within: Sequence[str],
    ) -> None:
        """Add the rows of each name minus the first, within each of the others."""
        first, *rest = of
        pairs = list(zip(self.played.scenario.tolist(), others.tolist(), strict=True))
        of_first = {pairs[k]: k for k in np.flatnonzero((names == first) & self.played.is_regular).tolist()}
        partner = np.array([of_first.get(pair, -1) for pair in pairs], dtype=np.int64)
        for group in within:
            for name in rest:
                where = (names == name) & (others == group) & (partner >= 0)
                rows.append(Row(f"{name} minus {first}", where, group, name))
                for column in OF_ASSISTANT:
                    values = self.value(column)
                    columns.append(np.where(where, values - values[partner], np.nan))

    def history_table(self) -> TableDocument:
        """Conditions by how far the history was damaged; step 0 is the history as it is."""
        kinds = list(dict.fromkeys(CONDITIONS[key].damage for key in self.conditions if CONDITIONS[key].damage))
        rows = [
            Row(str(CONDITIONS[key].step), self.mask_assistant(assistant) & self.mask_condition(key), group, key)
            for kind in kinds
            for assistant in self.assistants
            for group in [f"{kind}, {assistant}" if self.group_of(assistant) else kind]
            for key in self.conditions
            if CONDITIONS[key].damage == kind or key == WHOLE
        ]
        columns = (P, OF_ASSISTANT[0])
        note = "percent of the summaries that are damaged"
        return self.build_judged_table("history", "Quality of the history", rows, columns, "Damage", note)

    def drift_table(self) -> TableDocument:
        """Persona drift: how often the user's n-th turn names a value that the profile does not hold."""
        drifts = self.data.measures.drifts
        rows = [
            Row(str(turn + 1), self.usual & self.mask_assistant(assistant), self.group_of(assistant))
            for assistant in self.assistants
            for turn in range(drifts.shape[1])
        ]
        columns = [np.where(row.where, drifts[:, int(row.name) - 1], np.nan) for row in rows]
        cells = [[cell] for cell in self.means(columns, "no dialogue got so far", of=(DRIFT,))]
        note = f"{self.of_condition}; n-th turn of the user"
        return self.table("drift", "Persona drift", rows, cells, (DRIFT,), "Assistant", note)

    def talk_table(self) -> TableDocument:
        """How the dialogues went, those that ended otherwise included."""
        rows = [
            Row(label, self.mask_assistant(assistant) & self.mask_condition(key))
            for assistant in self.assistants
            for key in self.conditions
            for label in [f"{assistant} · {key}" if len(self.conditions) > 1 else assistant]
        ]
        rows = self.select_filled(rows)
        rows += [Row("all", self.everything, key="all")] if len(rows) > 1 else []
        return self.table("talk", "How the dialogues went", rows, self.cells(rows, OF_TALK), OF_TALK)


def pool_diversity(dialogues: Sequence[int]) -> list[Estimate]:
    """Dist-1, Dist-2, Ent-4 and Self-BLEU of everything that was said in some dialogues, read once."""
    texts = Texts.from_words(words(text) for text in judgments.texts(dialogues))
    together = np.zeros(texts.n, dtype=np.int64)
    found = variety(texts, together, 1)
    bleu = mean_by_group(bleu_among(texts, together), together, 1)
    values = [float(one[0]) for one in (found.dist_1, found.dist_2, found.ent_4, bleu)]
    return [figure(value, len(dialogues), NO_INTERVAL) for value in values]


TABLES = (
    "assistants_table",
    "ablation_table",
    "differences_table",
    "domains_table",
    "history_table",
    "turns_table",
    "variety_table",
    "user_table",
    "checks_table",
    "size_table",
    "drift_table",
    "talk_table",
)
OF_WHOLE_DIALOGUES = ("variety_table", "size_table", "talk_table", "drift_table", "checks_table")
"""Tables that a filter by turn leaves out."""
