"""Every operation of the API, written from its OpenAPI document by `make client`: do not edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from concord_client import types
from concord_client.transport import OMITTED, Json, Transport, quote


class Methods(Transport):
    """Every operation by its name: a noun reads, a verb changes something.

    A write takes `idempotency_key`; without one it gets a key of its own. A list takes `after`, the key of the last row
    seen, and `limit`, how many rows one request brings; it goes on to its end.
    """

    # acts

    def audit_events(
        self,
        *,
        before: int = OMITTED,
        limit: int = OMITTED,
        person: str = OMITTED,
        study: str = OMITTED,
        verb: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
    ) -> Iterator[types.Act]:
        """What researchers did, newest first.

        `before`: Number of the last event seen; `next` fills it in.
        `person`: A username.
        `study`: Name or address of a study.
        `verb`: Such as study.open, or study for all of them.
        `since`: The first day (UTC).
        `until`: The last day (UTC).
        """
        return self.rows(
            "acts", before=before, limit=limit, person=person, study=study, verb=verb, since=since, until=until
        )

    # labels

    def adjudication_studies(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.DecidedStudy]:
        """The studies in which I decide."""
        return self.rows("adjudication", after=after, limit=limit)

    def annotations(
        self,
        slug: str,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        criterion: str = OMITTED,
        rater: str = OMITTED,
        position: int = OMITTED,
        counting: bool = OMITTED,
    ) -> Iterator[types.Label]:
        """Submitted labels of people, oldest first.

        `rater`: Username of the annotator.
        `counting`: Only what is computed from: no labels of excluded annotators.
        """
        return self.rows(
            f"studies/{quote(slug)}/annotations",
            after=after,
            limit=limit,
            criterion=criterion,
            rater=rater,
            position=position,
            counting=counting,
        )

    def add_annotations(
        self,
        slug: str,
        labels: Sequence[types.NewLabel],
        *,
        on_error: Literal["stop", "skip"] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Counts:
        """Bring labels of people in, all or none unless bad ones are skipped."""
        return self.post(
            f"studies/{quote(slug)}/annotations", {"labels": labels, "on_error": on_error}, key=idempotency_key
        )

    def readmit(self, slug: str, user: str, reason: str, *, idempotency_key: str | None = None) -> types.Exclusion:
        """Let an annotator's labels count again."""
        return self.post(
            f"studies/{quote(slug)}/annotators/{quote(user)}/readmit", {"reason": reason}, key=idempotency_key
        )

    def checks(self, slug: str) -> list[types.Stretch]:
        """Gold accuracy and self-consistency of each annotator over time."""
        return self.get(f"studies/{quote(slug)}/checks")

    def disputes(
        self, slug: str, *, criterion: str = OMITTED, after: int = OMITTED, limit: int = OMITTED
    ) -> Iterator[types.Dispute]:
        """What people disagree on, most of all first.

        `criterion`: The first if not given.
        `after`: Place in this order; `next` fills it in.
        """
        return self.rows(f"studies/{quote(slug)}/disputes", criterion=criterion, after=after, limit=limit)

    def exclusions(self, slug: str) -> list[types.Exclusion]:
        """Whose labels do not count, now and before."""
        return self.get(f"studies/{quote(slug)}/exclusions")

    def exclude(self, slug: str, reason: str, annotator: str, *, idempotency_key: str | None = None) -> types.Exclusion:
        """Leave an annotator's labels out.

        `annotator`: Username.
        """
        return self.post(
            f"studies/{quote(slug)}/exclusions", {"reason": reason, "annotator": annotator}, key=idempotency_key
        )

    def gold(
        self,
        slug: str,
        *,
        method: Literal["majority", "median", "consensus", "dawid_skene", "model"] = OMITTED,
        min_ratings: int = OMITTED,
        min_posterior: float = OMITTED,
        criterion: str = OMITTED,
    ) -> types.StudyGold:
        """The gold of a study's items on one criterion.

        `method`: By default the median on ordered scales, the majority of categories, else the consensus.
        `min_ratings`: Items with fewer have none.
        `min_posterior`: Below this probability the answer of Dawid and Skene or of the difficulty model is too uncertain.
        `criterion`: The first if not given.
        """
        return self.get(
            f"studies/{quote(slug)}/gold",
            method=method,
            min_ratings=min_ratings,
            min_posterior=min_posterior,
            criterion=criterion,
        )

    def decisions(self, slug: str, position: int) -> list[types.Adjudication]:
        """What was decided on an item, newest last."""
        return self.get(f"studies/{quote(slug)}/items/{position}/adjudications")

    def decide(
        self,
        slug: str,
        position: int,
        criterion: str,
        value: str,
        *,
        reason: str = OMITTED,
        turn: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Adjudication:
        """Give an item its gold value.

        `turn`: 0 for the whole item.
        """
        return self.post(
            f"studies/{quote(slug)}/items/{position}/adjudications",
            {"criterion": criterion, "value": value, "reason": reason, "turn": turn},
            key=idempotency_key,
        )

    def dispute(self, slug: str, position: int, *, criterion: str = OMITTED, turn: int = OMITTED) -> types.DisputedItem:
        """An item with what people said of it, without their names.

        `criterion`: The first if not given.
        `turn`: The first that is asked of if not given.
        """
        return self.get(f"studies/{quote(slug)}/items/{position}/dispute", criterion=criterion, turn=turn)

    def item_messages(self, slug: str, position: int) -> list[types.Message]:
        """The threads on an item."""
        return self.get(f"studies/{quote(slug)}/items/{position}/messages")

    def answer_about_item(
        self, slug: str, position: int, text: str, annotator: str, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Answer an annotator on an item.

        `text`: Message.
        `annotator`: Username.
        """
        return self.post(
            f"studies/{quote(slug)}/items/{position}/messages",
            {"text": text, "annotator": annotator},
            key=idempotency_key,
        )

    def tier_changes(self, slug: str, position: int) -> list[types.Override]:
        """Every tier that was set by hand on an item, newest first."""
        return self.get(f"studies/{quote(slug)}/items/{position}/tier")

    def set_tier(
        self,
        slug: str,
        position: int,
        reason: str,
        criterion: str,
        tier: Literal["easy", "medium", "hard", "contested", ""],
        *,
        turn: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Override:
        """Put an item into a tier by hand.

        `tier`: Empty: as computed.
        `turn`: The turn or response, from 1; 0 for the whole item.
        """
        return self.post(
            f"studies/{quote(slug)}/items/{position}/tier",
            {"reason": reason, "criterion": criterion, "tier": tier, "turn": turn},
            key=idempotency_key,
        )

    def late_answers(self, slug: str) -> list[types.Late]:
        """Answers that came too late and wait for a decision."""
        return self.get(f"studies/{quote(slug)}/late")

    def decide_late(
        self, slug: str, number: int, decision: Literal["use", "dismiss"], *, idempotency_key: str | None = None
    ) -> types.Late:
        """Use answers that came too late, or leave them out."""
        return self.post(f"studies/{quote(slug)}/late/{number}", {"decision": decision}, key=idempotency_key)

    def item_threads(self, slug: str, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Thread]:
        """What annotators ask about items."""
        return self.rows(f"studies/{quote(slug)}/messages", after=after, limit=limit)

    def quality(self, slug: str, bootstrap: int = OMITTED) -> types.Quality:
        """Each annotator as an instrument."""
        return self.get(f"studies/{quote(slug)}/quality", bootstrap=bootstrap)

    # benchmarks

    def benchmarks(
        self,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        name: str = OMITTED,
        state: Literal["draft", "released"] = OMITTED,
    ) -> Iterator[types.Benchmark]:
        """Benchmarks, every version."""
        return self.rows("benchmarks", after=after, limit=limit, name=name, state=state)

    def build_benchmark(
        self,
        study: str,
        name: str,
        *,
        criterion: str = OMITTED,
        cuts: str = OMITTED,
        chance: str = OMITTED,
        min_votes: int = OMITTED,
        seed: int = OMITTED,
        version: str = OMITTED,
        parent: str = OMITTED,
        tiers: Literal["counted", "model"] = OMITTED,
        agreement_cuts: str = OMITTED,
        pooled: bool = OMITTED,
        splits: Mapping[str, float] = OMITTED,
        split_tolerance: float = OMITTED,
        by_question: bool = OMITTED,
        notes: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Benchmark:
        """A draft from the votes of a study.

        `study`: Its slug.
        `criterion`: The choice between the responses.
        `cuts`: Thresholds of kappa. Kappas up to which a case is contested, hard and medium.
        `chance`: uniform or margins.
        `min_votes`: Least number of votes. A case with fewer has no gold.
        `seed`: Seed of all random choices.
        `parent`: The version that this one corrects; by the API, its slug.
        `tiers`: A tier set by hand stands above both.
        `agreement_cuts`: Thresholds of the model. Probabilities that two people agree, up to which a case is contested, hard and medium.
        `pooled`: Count the votes of all rounds. Where the texts stayed the same; else the last.
        `splits`: Name and share; they sum to 1.
        `split_tolerance`: How far the share of a split may be from the wanted one.
        `by_question`: Keep a question in one split too.
        """
        return self.post(
            "benchmarks",
            {
                "criterion": criterion,
                "cuts": cuts,
                "chance": chance,
                "min_votes": min_votes,
                "seed": seed,
                "study": study,
                "name": name,
                "version": version,
                "parent": parent,
                "tiers": tiers,
                "agreement_cuts": agreement_cuts,
                "pooled": pooled,
                "splits": splits,
                "split_tolerance": split_tolerance,
                "by_question": by_question,
                "notes": notes,
            },
            key=idempotency_key,
        )

    def benchmark(self, slug: str) -> types.Benchmark:
        """A version of a benchmark."""
        return self.get(f"benchmarks/{quote(slug)}")

    def benchmark_audit(self, slug: str) -> Json:
        """The newest audit; 404 before the first."""
        return self.get(f"benchmarks/{quote(slug)}/audit")

    def audit_benchmark(
        self, slug: str, *, bootstrap: int = OMITTED, seed: int = OMITTED, idempotency_key: str | None = None
    ) -> Json:
        """What `audit_benchmark NAME --json` finds.

        `bootstrap`: Resamples.
        """
        return self.post(f"benchmarks/{quote(slug)}/audit", {"bootstrap": bootstrap, "seed": seed}, key=idempotency_key)

    def cases(
        self,
        slug: str,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        q: str = OMITTED,
        kind: str = OMITTED,
        tier: Literal["easy", "medium", "hard", "contested"] = OMITTED,
        split: str = OMITTED,
        only: Literal["counting", "excluded", "revised"] = OMITTED,
    ) -> Iterator[types.Case]:
        """The cases, also those that no model is scored on.

        `q`: A part of an id, a question or a persona's id.
        """
        return self.rows(
            f"benchmarks/{quote(slug)}/cases",
            after=after,
            limit=limit,
            q=q,
            kind=kind,
            tier=tier,
            split=split,
            only=only,
        )

    def case(self, slug: str, number: int) -> types.Case:
        """A case."""
        return self.get(f"benchmarks/{quote(slug)}/cases/{number}")

    def clean_benchmark(
        self, slug: str, rules: Sequence[str], version: str, *, notes: str = OMITTED, idempotency_key: str | None = None
    ) -> types.Benchmark:
        """A new version without what rules leave out.

        `rules`: Leave out. As the audit page names them.
        `version`: Version name.
        """
        return self.post(
            f"benchmarks/{quote(slug)}/clean", {"rules": rules, "version": version, "notes": notes}, key=idempotency_key
        )

    def datasheet(self, slug: str) -> Json:
        """What somebody must know who uses it."""
        return self.get(f"benchmarks/{quote(slug)}/datasheet")

    def benchmark_evaluations(
        self, slug: str, *, after: int = OMITTED, limit: int = OMITTED
    ) -> Iterator[types.Evaluation]:
        """The evaluations of a benchmark."""
        return self.rows(f"benchmarks/{quote(slug)}/evaluations", after=after, limit=limit)

    def evaluate(
        self,
        slug: str,
        judges: Sequence[int],
        settings: Sequence[Literal["none", "profile", "memories", "summary"]],
        *,
        seed: int = OMITTED,
        budget_usd: float | str | None = OMITTED,
        use_cache: bool = OMITTED,
        answers: Literal["choice", "log_probability"] = OMITTED,
        retriever: Literal["bm25", "embeddings", "endpoint"] = OMITTED,
        k: int = OMITTED,
        without: Sequence[str] = OMITTED,
        embedder: Mapping[str, object] = OMITTED,
        order_policy: Literal["random", "AB", "BA", "both"] = OMITTED,
        size: int = OMITTED,
        tiers: Sequence[Literal["easy", "medium", "hard", "contested"]] = OMITTED,
        kinds: Sequence[str] = OMITTED,
        split: str = OMITTED,
        longest: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Evaluation:
        """Begin an evaluation.

        `judges`: Their ids.
        `settings`: Persona information shown. Among none, profile, memories, summary.
        `seed`: Seed. The same seed draws the same.
        `budget_usd`: Budget in US dollars. The run stops itself before it costs more. Empty for none.
        `use_cache`: Otherwise the same question about the same item is not paid for twice.
        `retriever`: Retrieval of memories.
        `k`: Memories. The maximum number.
        `without`: Fields to leave out. Fields of the persona, such as preferences or demographics.Age.
        `embedder`: model, and base_url, of a server of embeddings, for the retriever endpoint.
        `order_policy`: Order of the responses.
        `size`: Cases. As many of each tier as there are. Empty for all.
        `tiers`: Tiers.
        `kinds`: Kinds.
        `longest`: Maximum length of a case (characters). Counts question and responses. Helps with a slow model; the result states it.
        """
        return self.post(
            f"benchmarks/{quote(slug)}/evaluations",
            {
                "seed": seed,
                "budget_usd": budget_usd,
                "use_cache": use_cache,
                "judges": judges,
                "settings": settings,
                "answers": answers,
                "retriever": retriever,
                "k": k,
                "without": without,
                "embedder": embedder,
                "order_policy": order_policy,
                "size": size,
                "tiers": tiers,
                "kinds": kinds,
                "split": split,
                "longest": longest,
            },
            key=idempotency_key,
        )

    def release_benchmark(self, slug: str, *, idempotency_key: str | None = None) -> types.Benchmark:
        """Release a draft; it does not change any more."""
        return self.post(f"benchmarks/{quote(slug)}/release", key=idempotency_key)

    def download_benchmark(self, slug: str, path: str | Path) -> None:
        """The folder that `release` writes, as one ZIP file; 404 for a draft."""
        self._download(f"benchmarks/{quote(slug)}/release.zip", path)

    def candidates(
        self,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        level: Literal["none", "generic", "full", "over"] = OMITTED,
        kind: str = OMITTED,
    ) -> Iterator[types.Candidate]:
        """Candidates, ordered here or imported."""
        return self.rows("candidates", after=after, limit=limit, level=level, kind=kind)

    def import_candidates(
        self, path: str | Path, *, on_error: Literal["stop", "skip"] = OMITTED, idempotency_key: str | None = None
    ) -> types.Counts:
        """Bring a file of candidates in."""
        return self._upload("candidates/imports", path, {"on_error": on_error}, key=idempotency_key)

    def pair_candidates(
        self,
        against: Sequence[Sequence[Literal["none", "generic", "full", "over"]]],
        *,
        length: float = OMITTED,
        same_form: bool = OMITTED,
        near: float = OMITTED,
        each: int = OMITTED,
        run: int = OMITTED,
        kind: str = OMITTED,
        seed: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.MadePairs:
        """Make pairs of levels; the same rule and seed give the same pairs.

        `against`: Such as [["full", "none"]].
        `length`: Minimum length ratio. Characters of the shorter response over those of the longer. 0 allows any; 0.8 keeps length from telling which is better.
        `same_form`: Same form. Both have lists, headings or bold words, or neither has.
        `near`: Near-duplicates from. Similarity in percent from which two responses, or two pairs of a question, are near-duplicates.
        `each`: Pairs of two levels for a question. 0 for as many as there are.
        `run`: Candidates of this run only.
        `kind`: Kind of questions.
        `seed`: Seed of the order and of the sides.
        """
        return self.post(
            "candidates/pairs",
            {
                "length": length,
                "same_form": same_form,
                "near": near,
                "each": each,
                "against": against,
                "run": run,
                "kind": kind,
                "seed": seed,
            },
            key=idempotency_key,
        )

    def candidate_runs(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.CandidateRun]:
        """Runs of candidates."""
        return self.rows("candidates/runs", after=after, limit=limit)

    def order_candidates(
        self,
        name: str,
        agent: types.Agent,
        questions: Sequence[types.Asked],
        *,
        project: str = OMITTED,
        seed: int = OMITTED,
        budget_usd: float | str | None = OMITTED,
        levels: Sequence[Literal["none", "generic", "full", "over"]] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.CandidateRun:
        """Order candidates.

        `name`: Name of the future benchmark.
        `project`: Address of the project it goes into; the chosen one if not given.
        `budget_usd`: Budget in US dollars. Checked before every request. Empty for none.
        """
        return self.post(
            "candidates/runs",
            {
                "project": project,
                "name": name,
                "agent": agent,
                "seed": seed,
                "budget_usd": budget_usd,
                "questions": questions,
                "levels": levels,
            },
            key=idempotency_key,
        )

    def candidate_run(self, run: int) -> types.CandidateRunWhole:
        """A run of candidates: what came by level, and what failed with its reason."""
        return self.get(f"candidates/runs/{run}")

    def resume_candidates(
        self, run: int, budget_usd: float | str | None = OMITTED, *, idempotency_key: str | None = None
    ) -> types.Resumed:
        """Go on with a stopped run, and try again what failed.

        `budget_usd`: Budget in US dollars. In place of the budget, including what is spent.
        """
        return self.post(f"candidates/runs/{run}/resume", {"budget_usd": budget_usd}, key=idempotency_key)

    def stop_candidates(self, run: int, *, idempotency_key: str | None = None) -> types.Stopped:
        """Ask for no more; what came is kept."""
        return self.post(f"candidates/runs/{run}/stop", key=idempotency_key)

    def start_from_seeds(
        self,
        name: str,
        agent: types.Agent,
        seeds: Sequence[types.Seed],
        personas: int,
        *,
        project: str = OMITTED,
        seed: int = OMITTED,
        budget_usd: float | str | None = OMITTED,
        checker: types.Agent | None = OMITTED,
        specific: int = OMITTED,
        general: int = OMITTED,
        questions: Sequence[str] = OMITTED,
        memories: int = OMITTED,
        against: Sequence[Sequence[Literal["none", "generic", "full", "over"]]] = OMITTED,
        levels: Sequence[Literal["none", "generic", "full", "over"]] = OMITTED,
        estimate: bool = OMITTED,
        idempotency_key: str | None = None,
    ) -> Json:
        """Begin with seeds, or say what that would take.

        `name`: Name of the future benchmark.
        `personas`: The first are the seeds as they stand; the others combine their traits.
        `project`: Address of the project it goes into; the chosen one if not given.
        `budget_usd`: Budget in US dollars. Checked before every request. Empty for none.
        `checker`: The model that checks responses; null for none.
        `specific`: Questions of each persona.
        `general`: Questions that every persona is asked.
        `questions`: General questions that are given; others are made.
        `memories`: Memories of each persona.
        `against`: Such as [["full", "none"]].
        `estimate`: Say what it would take, and start nothing.
        """
        return self.post(
            "candidates/seeds",
            {
                "project": project,
                "name": name,
                "agent": agent,
                "seed": seed,
                "budget_usd": budget_usd,
                "checker": checker,
                "seeds": seeds,
                "personas": personas,
                "specific": specific,
                "general": general,
                "questions": questions,
                "memories": memories,
                "against": against,
                "levels": levels,
                "estimate": estimate,
            },
            key=idempotency_key,
        )

    def evaluations(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Evaluation]:
        """Evaluations of all benchmarks."""
        return self.rows("evaluations", after=after, limit=limit)

    def evaluation(self, evaluation: int) -> types.Evaluation:
        """An evaluation."""
        return self.get(f"evaluations/{evaluation}")

    def failures(
        self,
        evaluation: int,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        run: str = OMITTED,
        tier: Literal["contested", "hard", "medium", "easy"] = OMITTED,
        kind: str = OMITTED,
        tag: Literal[
            "over_personalized", "generic", "misread", "distracted", "helpfulness", "several", "any", "none"
        ] = OMITTED,
        text: str = OMITTED,
        case: str = OMITTED,
    ) -> Iterator[types.Failure]:
        """Wrong answers, by key.

        `run`: Of one judge in one setting.
        `case`: Its position.
        """
        return self.rows(
            f"evaluations/{evaluation}/failures",
            after=after,
            limit=limit,
            run=run,
            tier=tier,
            kind=kind,
            tag=tag,
            text=text,
            case=case,
        )

    def tag_failure(
        self,
        evaluation: int,
        judgment: int,
        tags: Sequence[Literal["over_personalized", "generic", "misread", "distracted", "helpfulness", "several"]],
        *,
        note: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> None:
        """Say what one sees in a wrong answer, in place of what one said before."""
        self.send(
            "PUT",
            f"evaluations/{evaluation}/failures/{judgment}/tags",
            {"tags": tags, "note": note},
            key=idempotency_key,
        )

    def evaluation_results(self, evaluation: int) -> Json:
        """What `benchmark_results NAME --json` prints."""
        return self.get(f"evaluations/{evaluation}/results")

    def evaluation_runs(
        self, evaluation: int, *, after: int = OMITTED, limit: int = OMITTED
    ) -> Iterator[types.EvaluationRun]:
        """The runs of an evaluation."""
        return self.rows(f"evaluations/{evaluation}/runs", after=after, limit=limit)

    def extend_evaluation(
        self,
        evaluation: int,
        judges: Sequence[int],
        settings: Sequence[Literal["none", "profile", "memories", "summary"]],
        *,
        seed: int = OMITTED,
        budget_usd: float | str | None = OMITTED,
        use_cache: bool = OMITTED,
        answers: Literal["choice", "log_probability"] = OMITTED,
        retriever: Literal["bm25", "embeddings", "endpoint"] = OMITTED,
        k: int = OMITTED,
        without: Sequence[str] = OMITTED,
        embedder: Mapping[str, object] = OMITTED,
        order_policy: Literal["random", "AB", "BA", "both"] = OMITTED,
        idempotency_key: str | None = None,
    ) -> list[types.EvaluationRun]:
        """Let judges answer in more settings; what was asked already is not asked again.

        `judges`: Their ids.
        `settings`: Persona information shown. Among none, profile, memories, summary.
        `seed`: Seed. The same seed draws the same.
        `budget_usd`: Budget in US dollars. The run stops itself before it costs more. Empty for none.
        `use_cache`: Otherwise the same question about the same item is not paid for twice.
        `retriever`: Retrieval of memories.
        `k`: Memories. The maximum number.
        `without`: Fields to leave out. Fields of the persona, such as preferences or demographics.Age.
        `embedder`: model, and base_url, of a server of embeddings, for the retriever endpoint.
        `order_policy`: Order of the responses.
        """
        return self.post(
            f"evaluations/{evaluation}/runs",
            {
                "seed": seed,
                "budget_usd": budget_usd,
                "use_cache": use_cache,
                "judges": judges,
                "settings": settings,
                "answers": answers,
                "retriever": retriever,
                "k": k,
                "without": without,
                "embedder": embedder,
                "order_policy": order_policy,
            },
            key=idempotency_key,
        )

    def failure_counts(self, evaluation: int) -> types.FailureCounts:
        """By model, how many wrong answers are tagged and with what."""
        return self.get(f"evaluations/{evaluation}/tags")

    def filter_rounds(self, slug: str, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Round]:
        """The filter rounds of a study of pairs."""
        return self.rows(f"studies/{quote(slug)}/filter-rounds", after=after, limit=limit)

    def filter_round(
        self,
        slug: str,
        *,
        criterion: str = OMITTED,
        cuts: str = OMITTED,
        chance: str = OMITTED,
        min_votes: int = OMITTED,
        seed: int = OMITTED,
        outcomes: Mapping[str, Literal["kept", "dropped", "asked again"]] = OMITTED,
        name: str = OMITTED,
        overlap: int | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Round:
        """Decide the items that are ready.

        `criterion`: The choice between the responses.
        `cuts`: Thresholds of kappa. Kappas up to which a case is contested, hard and medium.
        `chance`: uniform or margins.
        `min_votes`: Least number of votes. A case with fewer has no gold.
        `seed`: Seed of all random choices.
        `outcomes`: By state: too few, tied, no preference, contested, hard, medium, easy.
        `name`: Name of the study that asks again.
        `overlap`: Annotators per item when asked again.
        """
        return self.post(
            f"studies/{quote(slug)}/filter-rounds",
            {
                "criterion": criterion,
                "cuts": cuts,
                "chance": chance,
                "min_votes": min_votes,
                "seed": seed,
                "outcomes": outcomes,
                "name": name,
                "overlap": overlap,
            },
            key=idempotency_key,
        )

    def graded_choices(self, slug: str) -> Json:
        """What choices hide that grades of the same people show; 404 before there are any."""
        return self.get(f"studies/{quote(slug)}/graded")

    def create_grading_study(
        self, slug: str, *, name: str = OMITTED, seed: int = OMITTED, idempotency_key: str | None = None
    ) -> types.Study:
        """A draft in which each response of a study of pairs is graded."""
        return self.post(f"studies/{quote(slug)}/graded", {"name": name, "seed": seed}, key=idempotency_key)

    # results

    def certificate(self, sha256: str) -> types.Certificate:
        """A certificate, and whether it holds."""
        return self.get(f"certificates/{quote(sha256)}")

    def revoke_certificate(self, sha256: str, reason: str, *, idempotency_key: str | None = None) -> types.Certificate:
        """Revoke a certificate, for good."""
        return self.post(f"certificates/{quote(sha256)}/revocation", {"reason": reason}, key=idempotency_key)

    def signing_keys(self) -> types.SigningKeys:
        """The public keys that check this site's certificates."""
        return self.get("certificates/keys")

    def check_certificate(
        self, *, document: Mapping[str, object] = OMITTED, sha256: str = OMITTED, idempotency_key: str | None = None
    ) -> types.Checked:
        """Whether a certificate holds: signed by this site, issued here, not revoked, not expired.

        `document`: What stands in the certificate's file.
        `sha256`: Or the certificate's hash alone.
        """
        return self.post("certificates/verify", {"document": document, "sha256": sha256}, key=idempotency_key)

    def majority_contradictions(
        self, slug: str, *, criterion: str = OMITTED, after: int = OMITTED, limit: int = OMITTED, judge: str = OMITTED
    ) -> Iterator[types.Contradiction]:
        """Where a judge contradicts the majority, the undecided first.

        `criterion`: The first if not given.
        `after`: Place in this order; `next` fills it in.
        `judge`: Its name; any if not given.
        """
        return self.rows(
            f"studies/{quote(slug)}/against-majority", criterion=criterion, after=after, limit=limit, judge=judge
        )

    def agreement(
        self,
        slug: str,
        *,
        bootstrap: int = OMITTED,
        confidence: float = OMITTED,
        seed: int = OMITTED,
        epsilon: float = OMITTED,
        by: str = OMITTED,
        cluster: str = OMITTED,
        strata: str = OMITTED,
        read: Literal["verdict", "score"] = OMITTED,
        criterion: str = OMITTED,
        whole: bool = OMITTED,
    ) -> Json:
        """What `agreement --study NAME --json` prints; of a large study what a worker computed last.

        `by`: A grouping of items, or annotator:KEY for what annotators answered about themselves.
        `criterion`: One alone; all if not given.
        `whole`: Compute it now, however large the study is.
        """
        return self.get(
            f"studies/{quote(slug)}/agreement",
            bootstrap=bootstrap,
            confidence=confidence,
            seed=seed,
            epsilon=epsilon,
            by=by,
            cluster=cluster,
            strata=strata,
            read=read,
            criterion=criterion,
            whole=whole,
        )

    def compute_agreement(
        self,
        slug: str,
        *,
        bootstrap: int = OMITTED,
        confidence: float = OMITTED,
        seed: int = OMITTED,
        epsilon: float = OMITTED,
        by: str = OMITTED,
        cluster: str = OMITTED,
        strata: str = OMITTED,
        read: Literal["verdict", "score"] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Queued:
        """Leave the agreement of a study to a worker.

        `by`: A grouping of items, or annotator:KEY for what annotators answered about themselves.
        """
        return self.post(
            f"studies/{quote(slug)}/agreement",
            {
                "bootstrap": bootstrap,
                "confidence": confidence,
                "seed": seed,
                "epsilon": epsilon,
                "by": by,
                "cluster": cluster,
                "strata": strata,
                "read": read,
            },
            key=idempotency_key,
        )

    def calibrations(self, slug: str) -> types.AssessedJudges:
        """All judges of a study side by side; `waiting` are left to a worker."""
        return self.get(f"studies/{quote(slug)}/calibration")

    def cascade(
        self, slug: str, judges: Sequence[int], *, target: float = OMITTED, delta: float = OMITTED
    ) -> types.Cascade:
        """What `cascade --study NAME --judges A,B --json` prints.

        `judges`: Ids of two to five judges, in the order in which they are asked.
        `target`: Agreement to be guaranteed.
        `delta`: Probability that the guarantee fails.
        """
        return self.get(f"studies/{quote(slug)}/cascade", target=target, delta=delta, judges=judges)

    def escalate_cascade(
        self,
        slug: str,
        judges: Sequence[int],
        *,
        target: float = OMITTED,
        delta: float = OMITTED,
        name: str = OMITTED,
        overlap: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Escalation:
        """Send what a cascade leaves to people, as a study.

        `judges`: Ids, in the order in which they are asked.
        `target`: Agreement to be guaranteed.
        `delta`: Probability that the guarantee fails.
        `name`: Name of the new study.
        `overlap`: People per item.
        """
        return self.post(
            f"studies/{quote(slug)}/cascade/escalations",
            {"target": target, "delta": delta, "judges": judges, "name": name, "overlap": overlap},
            key=idempotency_key,
        )

    def hold_out(self, slug: str) -> types.HeldOut:
        """How the study is split, and every look at the held-out part; 404 where nothing is held out."""
        return self.get(f"studies/{quote(slug)}/hold-out")

    def set_hold_out(
        self, slug: str, *, share: float = OMITTED, seed: int = OMITTED, idempotency_key: str | None = None
    ) -> types.HoldOut:
        """Keep a part of the items from the development of judges.

        `share`: Share to hold out. Of the clusters; between 0 and 1.
        `seed`: Seed. The same seed draws the same.
        """
        return self.post(f"studies/{quote(slug)}/hold-out", {"share": share, "seed": seed}, key=idempotency_key)

    def item_judgments(
        self, slug: str, position: int, *, after: int = OMITTED, limit: int = OMITTED
    ) -> Iterator[types.Judgment]:
        """What judges said of an item, in all runs; nothing of a held-out item."""
        return self.rows(f"studies/{quote(slug)}/items/{position}/judgments", after=after, limit=limit)

    def audit(self, slug: str, judge: int, *, part: str = OMITTED, criterion: str = OMITTED) -> Json:
        """What `audit --study NAME --judge NAME --json` prints, verdicts included.

        `part`: all, development or held-out items.
        """
        return self.get(f"studies/{quote(slug)}/judges/{judge}/audit", part=part, criterion=criterion)

    def calibration(self, slug: str, judge: int, *, part: str = OMITTED, criterion: str = OMITTED) -> Json:
        """What `calibrate --study NAME --judge NAME --json` prints.

        `part`: all, development or held-out items.
        """
        return self.get(f"studies/{quote(slug)}/judges/{judge}/calibration", part=part, criterion=criterion)

    def certificates(
        self, slug: str, judge: int, *, after: int = OMITTED, limit: int = OMITTED
    ) -> Iterator[types.Issued]:
        """Certificates issued of a judge on a study."""
        return self.rows(f"studies/{quote(slug)}/judges/{judge}/certificates", after=after, limit=limit)

    def certify(
        self,
        slug: str,
        judge: int,
        *,
        rules: Mapping[str, str] = OMITTED,
        reason: str = OMITTED,
        part: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Certificate:
        """Sign what was found of a judge.

        `rules`: As typed: least_items, least_clusters, least_outside, most_unscored, useful, below_ceiling, least_coverage, target_agreement, least_gained, must_pass_alt_test, tolerated_biases, required_probes.
        `reason`: Needed where rules change after the first look.
        """
        return self.post(
            f"studies/{quote(slug)}/judges/{judge}/certificates",
            {"rules": rules, "reason": reason, "part": part},
            key=idempotency_key,
        )

    def version_change(self, slug: str, judge: int, against: str = OMITTED) -> types.VersionChange:
        """How far a judge agrees better with people than another version of it.

        `against`: A version; the one before if not given.
        """
        return self.get(f"studies/{quote(slug)}/judges/{judge}/change", against=against)

    def compute_assessment(self, slug: str, judge: int, *, idempotency_key: str | None = None) -> types.Queued:
        """Leave calibration and audit of a judge to a worker."""
        return self.post(f"studies/{quote(slug)}/judges/{judge}/compute", key=idempotency_key)

    def human_disagreement(self, slug: str, judge: int, criterion: str = OMITTED) -> Json:
        """Why people differ, and how far the judge is from their answers, by criterion.

        `criterion`: All if not given.
        """
        return self.get(f"studies/{quote(slug)}/judges/{judge}/differing", criterion=criterion)

    def disagreements(
        self,
        slug: str,
        judge: int,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        criterion: str = OMITTED,
        tier: str = OMITTED,
        sort: Literal["size", "-size", "confidence", "-confidence", "position", "-position"] = OMITTED,
    ) -> Iterator[types.Disagreement]:
        """Where a judge and people part.

        `after`: Place in this order; `next` fills it in.
        `criterion`: All if not given.
        """
        return self.rows(
            f"studies/{quote(slug)}/judges/{judge}/disagreements",
            after=after,
            limit=limit,
            criterion=criterion,
            tier=tier,
            sort=sort,
        )

    def escalate(
        self,
        slug: str,
        judge: int,
        *,
        name: str = OMITTED,
        target: float = OMITTED,
        overlap: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Escalation:
        """Send what a judge is unsure of back to people, as a study.

        `name`: Name of the new study.
        `target`: Target agreement. Agreement to be guaranteed.
        `overlap`: People per item.
        """
        return self.post(
            f"studies/{quote(slug)}/judges/{judge}/escalations",
            {"name": name, "target": target, "overlap": overlap},
            key=idempotency_key,
        )

    def escalation_return(self, slug: str, judge: int) -> types.EscalationReturn:
        """What people said of what the judge left to them last; 404 where it left nothing."""
        return self.get(f"studies/{quote(slug)}/judges/{judge}/escalations/newest")

    def access_held_out(self, slug: str, judge: int, *, idempotency_key: str | None = None) -> Json:
        """Look at what a judge does on the held-out part, on record."""
        return self.post(f"studies/{quote(slug)}/judges/{judge}/look", key=idempotency_key)

    def recalibrate(
        self, slug: str, judge: int, anyway: bool = OMITTED, *, idempotency_key: str | None = None
    ) -> types.Run:
        """Apply calibration: the run of the recalibrated judge.

        `anyway`: Also maps that raise the mean absolute error.
        """
        return self.post(f"studies/{quote(slug)}/judges/{judge}/maps", {"anyway": anyway}, key=idempotency_key)

    def plan_labels(
        self,
        slug: str,
        judge: int,
        criterion: str,
        width: float,
        *,
        by: str = OMITTED,
        confidence: float = OMITTED,
        seed: int = OMITTED,
    ) -> types.PlannedLabels:
        """What `plan_labels --study NAME --judge NAME --json` prints.

        `criterion`: Criterion.
        `width`: Width of the interval. From end to end, in units of the scale; of a rate, 0.1 is ten points.
        `by`: Allocate by. Groups in which the judge errs more get more labels.
        `confidence`: Confidence.
        `seed`: Seed. The same seed draws the same.
        """
        return self.get(
            f"studies/{quote(slug)}/judges/{judge}/plan",
            criterion=criterion,
            width=width,
            by=by,
            confidence=confidence,
            seed=seed,
        )

    def create_planned_study(
        self,
        slug: str,
        judge: int,
        criterion: str,
        width: float,
        name: str,
        *,
        by: str = OMITTED,
        confidence: float = OMITTED,
        seed: int = OMITTED,
        overlap: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.LabelPlan:
        """Make a study of the items that the plan draws.

        `criterion`: Criterion.
        `width`: Width of the interval. From end to end, in units of the scale; of a rate, 0.1 is ten points.
        `name`: Name of the new study.
        `by`: Allocate by. Groups in which the judge errs more get more labels.
        `confidence`: Confidence.
        `seed`: Seed. The same seed draws the same.
        `overlap`: People per item.
        """
        return self.post(
            f"studies/{quote(slug)}/judges/{judge}/plan",
            {
                "criterion": criterion,
                "width": width,
                "by": by,
                "confidence": confidence,
                "seed": seed,
                "name": name,
                "overlap": overlap,
            },
            key=idempotency_key,
        )

    def create_judge_version(
        self,
        slug: str,
        judge: int,
        *,
        examples: int = OMITTED,
        criteria: Sequence[str] = OMITTED,
        seed: int = OMITTED,
        template: str | None = OMITTED,
        templates: Mapping[str, str] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Judge:
        """The next version of a judge, with examples of the study.

        `examples`: Examples for each criterion. Adjudicated items of the development part, values of the scale in turn. 0 takes them away.
        `criteria`: On. Criteria to show examples of; all, if none is named.
        `seed`: Seed. The same seed draws the same.
        `template`: Prompt. Empty for Concord’s own, one for each criterion; not given: as it is. $examples stands for the examples; the item goes first and what is asked last, so that what an item’s requests share is read once.
        `templates`: The prompt of one criterion, each by its key; others stay as they are.
        """
        return self.post(
            f"studies/{quote(slug)}/judges/{judge}/versions",
            {"examples": examples, "criteria": criteria, "seed": seed, "template": template, "templates": templates},
            key=idempotency_key,
        )

    def progress_details(self, slug: str) -> Json:
        """Coverage, pace, forecast, agreement as it grows, and who needs help, as the progress page."""
        return self.get(f"studies/{quote(slug)}/progress/details")

    def rated_items(
        self,
        slug: str,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        criterion: str = OMITTED,
        majority: str = OMITTED,
        judge: str = OMITTED,
        value: str = OMITTED,
        people: str = OMITTED,
        annotator: str = OMITTED,
        run: str = OMITTED,
        outcome: str = OMITTED,
        by: str = OMITTED,
        group: str = OMITTED,
        at: str = OMITTED,
        tier: str = OMITTED,
        cuts: str = OMITTED,
        chance: str = OMITTED,
    ) -> Iterator[types.RatedItem]:
        """Items with what people and judges said, by position.

        `criterion`: The first if not given.
        `majority`: A value of the scale, or tied.
        `judge`: Its name, with `value`.
        `value`: That the judge gave, or unscored.
        `people`: several, agree or disagree.
        `annotator`: Usernames of people who all rated it.
        `run`: A judge's run, in place of `judge`.
        `outcome`: The judge's verdict: scored, agrees or differs (from the majority).
        `by`: A grouping of items, with `group`.
        `at`: Positions, separated by commas.
        `tier`: easy, medium, hard or contested.
        """
        return self.rows(
            f"studies/{quote(slug)}/rated-items",
            after=after,
            limit=limit,
            criterion=criterion,
            majority=majority,
            judge=judge,
            value=value,
            people=people,
            annotator=annotator,
            run=run,
            outcome=outcome,
            by=by,
            group=group,
            at=at,
            tier=tier,
            cuts=cuts,
            chance=chance,
        )

    def download_report(self, slug: str, form: str, path: str | Path) -> None:
        """The report of a study as zip (all of it), pdf, html, latex, bibtex or json."""
        self._download(f"studies/{quote(slug)}/report.{quote(form)}", path)

    def rules(self, slug: str) -> types.StudyRules:
        """The rules of a study's verdicts, its criterion of success, and how they came about."""
        return self.get(f"studies/{quote(slug)}/rules")

    def set_rules(
        self,
        slug: str,
        *,
        rules: Mapping[str, str] = OMITTED,
        reason: str = OMITTED,
        success: Literal["replace", "assist and escalate"] = OMITTED,
        criteria: Sequence[str] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.StudyRules:
        """Set the rules before the first look, or change them on record.

        `rules`: As typed: least_items, least_clusters, least_outside, most_unscored, useful, below_ceiling, least_coverage, target_agreement, least_gained, must_pass_alt_test, tolerated_biases, required_probes.
        `reason`: Needed where rules change after the first look.
        `success`: The decision that counts as one.
        `criteria`: That the success takes; all if empty.
        """
        return self.post(
            f"studies/{quote(slug)}/rules",
            {"rules": rules, "reason": reason, "success": success, "criteria": criteria},
            key=idempotency_key,
        )

    def tiers(
        self,
        slug: str,
        *,
        criterion: str = OMITTED,
        agreement_cuts: str = OMITTED,
        cuts: str = OMITTED,
        chance: str = OMITTED,
        by: str = OMITTED,
        draws: int = OMITTED,
        bootstrap: int = OMITTED,
        seed: int = OMITTED,
        whole: bool = OMITTED,
    ) -> Json:
        """What `tiers --study NAME --json` prints of one criterion; of a large study with the fit that a worker made.

        `criterion`: The first if not given.
        `agreement_cuts`: Of the difficulty model: probability of agreement, upper ends of contested, hard and medium.
        `whole`: Fit the model now, however large the study is.
        """
        return self.get(
            f"studies/{quote(slug)}/tiers",
            criterion=criterion,
            agreement_cuts=agreement_cuts,
            cuts=cuts,
            chance=chance,
            by=by,
            draws=draws,
            bootstrap=bootstrap,
            seed=seed,
            whole=whole,
        )

    def compute_tiers(
        self, slug: str, agreement_cuts: str = OMITTED, *, idempotency_key: str | None = None
    ) -> types.Queued:
        """Leave the difficulty model of a study's criteria to a worker.

        `agreement_cuts`: Of the difficulty model: probability of agreement, upper ends of contested, hard and medium.
        """
        return self.post(f"studies/{quote(slug)}/tiers", {"agreement_cuts": agreement_cuts}, key=idempotency_key)

    def more_ratings(
        self, slug: str, *, criterion: str = OMITTED, agreement_cuts: str = OMITTED, ahead: int = OMITTED
    ) -> Json:
        """What `plan --study NAME --settle-tiers --json` prints of one criterion.

        `criterion`: The first if not given.
        `agreement_cuts`: Probability that two people agree: ends of contested, hard and medium.
        """
        return self.get(
            f"studies/{quote(slug)}/tiers/more", criterion=criterion, agreement_cuts=agreement_cuts, ahead=ahead
        )

    def request_ratings(
        self, slug: str, positions: Sequence[int], *, idempotency_key: str | None = None
    ) -> types.Changed:
        """Ask for one more rating of each of these items; of how many it is.

        `positions`: Of items.
        """
        return self.post(f"studies/{quote(slug)}/tiers/more", {"positions": positions}, key=idempotency_key)

    def tiers_predicted(
        self,
        slug: str,
        *,
        criterion: str = OMITTED,
        agreement_cuts: str = OMITTED,
        of: Literal["study", "dataset"] = OMITTED,
        bootstrap: int = OMITTED,
        seed: int = OMITTED,
        whole: bool = OMITTED,
    ) -> Json:
        """What `tiers --study NAME --predict --json` prints of one criterion.

        `criterion`: The first if not given.
        `agreement_cuts`: Of the difficulty model: probability of agreement, upper ends of contested, hard and medium.
        `of`: Unrated items of the study, or of its dataset.
        `whole`: Fit the model now, however large the study is.
        """
        return self.get(
            f"studies/{quote(slug)}/tiers/predicted",
            criterion=criterion,
            agreement_cuts=agreement_cuts,
            of=of,
            bootstrap=bootstrap,
            seed=seed,
            whole=whole,
        )

    # making

    def conflicts(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Conflict]:
        """Conflicts in profiles."""
        return self.rows("conflicts", after=after, limit=limit)

    def decide_conflict(
        self,
        number: int,
        decision: Literal["conflict", "none", "unsure"],
        *,
        note: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Conflict:
        """Decide whether it is a conflict.

        `decision`: Decision.
        `note`: Note.
        """
        return self.post(f"conflicts/{number}/reviews", {"decision": decision, "note": note}, key=idempotency_key)

    def generations(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Making]:
        """Orders of material."""
        return self.rows("making", after=after, limit=limit)

    def start_generation(
        self,
        kind: Literal[
            "profile",
            "mask",
            "preferences",
            "interactions",
            "tasks",
            "situation",
            "check",
            "candidates",
            "persona",
            "questions",
            "memories",
            "responses",
        ],
        agent: types.Agent,
        *,
        project: str = OMITTED,
        source: str = OMITTED,
        domains: Sequence[str] = OMITTED,
        demographics: Mapping[str, object] = OMITTED,
        profile: int | None = OMITTED,
        task: int | None = OMITTED,
        n: int = OMITTED,
        seed: int = OMITTED,
        prompts: Mapping[str, str] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Making:
        """Order material from a model.

        `kind`: What to generate.
        `project`: Address of the project it goes into; the chosen one if not given.
        `source`: Preference types. The source whose preference types were imported with import_schema.
        `domains`: Domains. Empty: a profile gets the domains that it cares for, and each task has several.
        `demographics`: Demographics. For a whole profile: JSON such as {"age": "35-44", "country": "Norway"}.
        `n`: How many tasks.
        `prompts`: Prompts of your own. JSON with texts by name, in place of Concord's own: mask, preferences, interactions, tasks, tasks_multi, situation, conflicts.
        """
        return self.post(
            "making",
            {
                "project": project,
                "kind": kind,
                "agent": agent,
                "source": source,
                "domains": domains,
                "demographics": demographics,
                "profile": profile,
                "task": task,
                "n": n,
                "seed": seed,
                "prompts": prompts,
            },
            key=idempotency_key,
        )

    def generation(self, number: int) -> types.Making:
        """An order of material."""
        return self.get(f"making/{number}")

    def retry_generation(self, number: int, *, idempotency_key: str | None = None) -> types.Making:
        """Try an order that failed once more."""
        return self.post(f"making/{number}/again", key=idempotency_key)

    def dialogue_measures(self, source: str) -> Json:
        """Turns, words and variety of one source's dialogues."""
        return self.get("measures/dialogues", source=source)

    def compute_dialogue_measures(self, source: str, *, idempotency_key: str | None = None) -> types.Queued:
        """Leave the measures of a source's dialogues to a worker."""
        return self.post("measures/dialogues", {"source": source}, key=idempotency_key)

    def profile_measures(self, source: str) -> Json:
        """Domains, demographics and evenness of one source's profiles."""
        return self.get("measures/profiles", source=source)

    def compute_profile_measures(self, source: str, *, idempotency_key: str | None = None) -> types.Queued:
        """Leave the measures of a source's profiles to a worker."""
        return self.post("measures/profiles", {"source": source}, key=idempotency_key)

    # studies

    def criteria(self) -> list[types.Template]:
        """Criteria that a study can be made with."""
        return self.get("criteria")

    def people(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Person]:
        """Accounts, people and imported or simulated annotators."""
        return self.rows("people", after=after, limit=limit)

    def rubrics(self) -> list[types.RubricTemplate]:
        """Rubrics that a study can be made with."""
        return self.get("rubrics")

    def check_rubric(self, rubric: Mapping[str, object], *, idempotency_key: str | None = None) -> types.Rubric:
        """Say whether this is a rubric; nothing is stored.

        `rubric`: As a rubric file in JSON: name, kind and a list of criteria.
        """
        return self.post("rubrics/check", {"rubric": rubric}, key=idempotency_key)

    def studies(
        self,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        state: Literal["draft", "open", "closed"] = OMITTED,
        kind: Literal["dialogue", "pair"] = OMITTED,
    ) -> Iterator[types.Study]:
        """Studies."""
        return self.rows("studies", after=after, limit=limit, state=state, kind=kind)

    def create_study(
        self,
        name: str,
        kind: Literal["dialogue", "pair"],
        *,
        project: str = OMITTED,
        criteria: Sequence[str] = OMITTED,
        rubric: Mapping[str, object] = OMITTED,
        overlap: int = OMITTED,
        most_overlap: int | None = OMITTED,
        shown: Sequence[str] = OMITTED,
        each_turn: Sequence[str] = OMITTED,
        allow_tie: bool = OMITTED,
        asks_strength: bool = OMITTED,
        content_form: Literal["rendered", "plain"] = OMITTED,
        seed: int = OMITTED,
        clustering: str = OMITTED,
        description: str = OMITTED,
        instructions: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.StudyWithWarnings:
        """Make a study, as a draft without items.

        `project`: Address of the project it goes into; the chosen one if not given.
        `criteria`: Among task_completion, personalization, naturalness_user, naturalness_assistant, coherence_user, coherence_assistant, preference, first_turn_preference, persona_drift, goal_leakage. If not given: the published ones of the kind.
        `rubric`: Rubric. Criteria of your own, in place of those named: name, kind and a list of criteria.
        `overlap`: Annotators per item. Agreement needs at least 2; three is usual.
        `most_overlap`: Annotators per item at most. Adaptive overlap: items whose tier is unclear are asked about again, up to this number. It needs 20 items or more and scales of at most 20 categories. Empty: every item gets the same number.
        `shown`: Context that annotators see. Among goal, situation, preferences, persona, demographics, interactions, memories. Never shown: models, condition, labels, judges.
        `each_turn`: Rated turn by turn. The other criteria are asked of the whole dialogue.
        `allow_tie`: Allow a tie.
        `asks_strength`: Ask whether a response is much or slightly better.
        `content_form`: How texts are shown. Exported with the labels.
        `seed`: Seed of the study. Draws the order of items, and which response is A.
        `clustering`: Cluster items by. Items of a cluster depend on each other. Empty: by profile, else by question. Or none, a grouping such as domain, or a key of the items' source.
        `instructions`: Shown to annotators beside the guidelines.
        """
        return self.post(
            "studies",
            {
                "project": project,
                "name": name,
                "kind": kind,
                "criteria": criteria,
                "rubric": rubric,
                "overlap": overlap,
                "most_overlap": most_overlap,
                "shown": shown,
                "each_turn": each_turn,
                "allow_tie": allow_tie,
                "asks_strength": asks_strength,
                "content_form": content_form,
                "seed": seed,
                "clustering": clustering,
                "description": description,
                "instructions": instructions,
            },
            key=idempotency_key,
        )

    def study(self, slug: str) -> types.StudyWithWarnings:
        """A study."""
        return self.get(f"studies/{quote(slug)}")

    def annotators(self, slug: str) -> list[types.Annotator]:
        """A study's annotators with what they have done."""
        return self.get(f"studies/{quote(slug)}/annotators")

    def add_annotators(
        self, slug: str, annotators: Sequence[str], *, idempotency_key: str | None = None
    ) -> list[types.Annotator]:
        """Add annotators.

        `annotators`: People. Usernames.
        """
        return self.post(f"studies/{quote(slug)}/annotators", {"annotators": annotators}, key=idempotency_key)

    def release_annotator(self, slug: str, user: str, *, idempotency_key: str | None = None) -> types.Changed:
        """Give what an annotator has in work or skipped to the others."""
        return self.post(f"studies/{quote(slug)}/annotators/{quote(user)}/release", key=idempotency_key)

    def close_study(self, slug: str, *, idempotency_key: str | None = None) -> types.StudyWithWarnings:
        """Take no more labels."""
        return self.post(f"studies/{quote(slug)}/close", key=idempotency_key)

    def set_clustering(
        self, slug: str, clustering: str, *, idempotency_key: str | None = None
    ) -> types.StudyWithWarnings:
        """Say what dependent items share.

        `clustering`: Cluster items by. Items of a cluster depend on each other. Empty: by profile, else by question. Or one of none, profile, question, stratum, domain, condition, assistant_model, kind, source_tier, or a key of the items' source.
        """
        return self.send("PUT", f"studies/{quote(slug)}/clustering", {"clustering": clustering}, key=idempotency_key)

    def criterion(self, slug: str, key: str) -> types.Criterion:
        """A criterion with its guideline."""
        return self.get(f"studies/{quote(slug)}/criteria/{quote(key)}")

    def edit_criterion(
        self,
        slug: str,
        key: str,
        *,
        question: str = OMITTED,
        guideline: str = OMITTED,
        categories: Sequence[Mapping[str, str]] = OMITTED,
        reason: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Criterion:
        """A new version of what is asked; labels keep theirs.

        `reason`: Why. Annotators read it beside what changed.
        """
        return self.send(
            "PATCH",
            f"studies/{quote(slug)}/criteria/{quote(key)}",
            {"question": question, "guideline": guideline, "categories": categories, "reason": reason},
            key=idempotency_key,
        )

    def criterion_versions(self, slug: str, key: str) -> list[types.Version]:
        """All versions of what is asked, newest first."""
        return self.get(f"studies/{quote(slug)}/criteria/{quote(key)}/versions")

    def items(
        self, slug: str, *, after: int = OMITTED, limit: int = OMITTED, stratum: str = OMITTED
    ) -> Iterator[types.Item]:
        """A study's items in its order, by position."""
        return self.rows(f"studies/{quote(slug)}/items", after=after, limit=limit, stratum=stratum)

    def item(self, slug: str, position: int) -> types.Item:
        """An item."""
        return self.get(f"studies/{quote(slug)}/items/{position}")

    def open_study(self, slug: str, *, idempotency_key: str | None = None) -> types.StudyWithWarnings:
        """Let annotators work on it."""
        return self.post(f"studies/{quote(slug)}/open", key=idempotency_key)

    def study_progress(self, slug: str) -> types.Progress:
        """How far a study has come."""
        return self.get(f"studies/{quote(slug)}/progress")

    def rubric(self, slug: str) -> types.Rubric:
        """What a study asks, as a rubric."""
        return self.get(f"studies/{quote(slug)}/rubric")

    def change_rubric(
        self, slug: str, rubric: Mapping[str, object], *, reason: str = OMITTED, idempotency_key: str | None = None
    ) -> types.RubricChanges:
        """Ask other criteria; labels keep theirs.

        `rubric`: As a rubric file in JSON: name, kind and a list of criteria.
        `reason`: Why. Needed once labels rest on the rubric; annotators read it beside what changed.
        """
        return self.send(
            "PUT", f"studies/{quote(slug)}/rubric", {"rubric": rubric, "reason": reason}, key=idempotency_key
        )

    def samples(self, slug: str) -> list[types.Sample]:
        """The draws of a study's items."""
        return self.get(f"studies/{quote(slug)}/samples")

    def draw(
        self,
        slug: str,
        *,
        method: Literal["all", "simple", "stratified"] = OMITTED,
        size: int | None = OMITTED,
        strata: Sequence[str] = OMITTED,
        filters: Mapping[str, Sequence[str]] = OMITTED,
        allocation: Literal["proportional", "equal"] = OMITTED,
        seed: int = OMITTED,
        predicted_from: str = OMITTED,
        predicted_criterion: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Sample:
        """Draw items into a draft.

        `method`: Which items. Stratified where strata are named, simple with a size, else all.
        `size`: How many items. Not needed when all are taken.
        `strata`: Only for a stratified sample: fields among source, assistant_model, condition, domain, judge_score, predicted_tier, kind, source_tier.
        `filters`: Field to its values.
        `seed`: Seed of the draw. The same seed draws the same items again.
        `predicted_from`: Study whose labels the stratum predicted_tier is predicted from.
        `predicted_criterion`: Its criterion; the first by default.
        """
        return self.post(
            f"studies/{quote(slug)}/samples",
            {
                "method": method,
                "size": size,
                "strata": strata,
                "filters": filters,
                "allocation": allocation,
                "seed": seed,
                "predicted_from": predicted_from,
                "predicted_criterion": predicted_criterion,
            },
            key=idempotency_key,
        )

    # material

    def dialogues(
        self, *, after: int = OMITTED, limit: int = OMITTED, q: str = OMITTED, source: str = OMITTED
    ) -> Iterator[types.Dialogue]:
        """Dialogues.

        `q`: A part of an id or name.
        `source`: Where the records came from.
        """
        return self.rows("dialogues", after=after, limit=limit, q=q, source=source)

    def dialogue(self, number: int) -> types.Dialogue:
        """A dialogue."""
        return self.get(f"dialogues/{number}")

    def dataset_counts(self) -> list[types.Stock]:
        """How many records of each kind there are, by source."""
        return self.get("material")

    def pairs(
        self, *, after: int = OMITTED, limit: int = OMITTED, q: str = OMITTED, source: str = OMITTED
    ) -> Iterator[types.Pair]:
        """Response pairs.

        `q`: A part of an id or name.
        `source`: Where the records came from.
        """
        return self.rows("pairs", after=after, limit=limit, q=q, source=source)

    def pair(self, number: int) -> types.Pair:
        """A response pair."""
        return self.get(f"pairs/{number}")

    def profiles(
        self, *, after: int = OMITTED, limit: int = OMITTED, q: str = OMITTED, source: str = OMITTED
    ) -> Iterator[types.Profile]:
        """Profiles.

        `q`: A part of an id or name.
        `source`: Where the records came from.
        """
        return self.rows("profiles", after=after, limit=limit, q=q, source=source)

    def profile(self, number: int) -> types.Profile:
        """A profile."""
        return self.get(f"profiles/{number}")

    def search(self, q: str) -> list[types.Found]:
        """People, studies, items and records by name or id.

        `q`: A part of a name or id.
        """
        return self.get("search", q=q)

    def tasks(
        self, *, after: int = OMITTED, limit: int = OMITTED, q: str = OMITTED, source: str = OMITTED
    ) -> Iterator[types.Task]:
        """Tasks.

        `q`: A part of an id or name.
        `source`: Where the records came from.
        """
        return self.rows("tasks", after=after, limit=limit, q=q, source=source)

    def task(self, number: int) -> types.Task:
        """A task."""
        return self.get(f"tasks/{number}")

    # experiments

    def experiments(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Experiment]:
        """Experiments."""
        return self.rows("experiments", after=after, limit=limit)

    def start_experiment(
        self,
        name: str,
        user_agent: types.Agent,
        assistants: Sequence[types.Agent],
        conditions: Sequence[str],
        *,
        project: str = OMITTED,
        users: str = OMITTED,
        tasks: str = OMITTED,
        source: str = OMITTED,
        strategy: Literal["vanilla", "chain_of_thought", "state_tracking"] = OMITTED,
        user_information: str = OMITTED,
        prompts: Mapping[str, str] = OMITTED,
        seed: int = OMITTED,
        single_exchanges: int | None = OMITTED,
        multi_exchanges: int | None = OMITTED,
        single_turns: int | None = OMITTED,
        multi_turns: int | None = OMITTED,
        passages: int = OMITTED,
        embedder: str = OMITTED,
        budget_usd: float | str | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Experiment:
        """Start an experiment.

        `name`: Name.
        `conditions`: Conditions: what the assistant knows of the user. vanilla, base, base+D, base+I, base+S, base+all, none, base+I-retrieved, base+I-embedded; base+I-KIND-STEP of shortened, irrelevant, contradicted and (25, 50, 75, 100).
        `project`: Address of the project it goes into; the chosen one if not given.
        `users`: Users. A number to draw at random, ids separated by commas, or all.
        `tasks`: Tasks. A number to draw, ids with commas, all, single or multi; the last two also with a number. What a user does not care for is left out.
        `source`: Dataset. Whose profiles and tasks, where there are several sources.
        `strategy`: Strategy of the user agent.
        `user_information`: Information given to the user agent. faithful or task_preferences. Empty: faithful for PersonaLens, else task_preferences.
        `prompts`: Texts in place of Concord's own, by role: user_opening, user_later, assistant, vanilla.
        `seed`: Seed. The same seed draws the same.
        `single_exchanges`: Maximum exchanges, one domain. 20 if no limit is given. An exchange is a reply of the assistant and one of the user, after the user’s first message.
        `multi_exchanges`: Maximum exchanges, several domains. 30 if no limit is given.
        `single_turns`: In place of exchanges: messages of both sides, without a closing reply.
        `multi_turns`: The same for several domains.
        `passages`: Passages retrieved for a turn. For conditions with retrieval.
        `embedder`: Embedding model. For retrieval by embeddings: openai_compatible:MODEL. Parameters may follow as JSON.
        `budget_usd`: Budget in US dollars. The experiment stops itself before it costs more. Empty for none.
        """
        return self.post(
            "experiments",
            {
                "project": project,
                "name": name,
                "user_agent": user_agent,
                "assistants": assistants,
                "conditions": conditions,
                "users": users,
                "tasks": tasks,
                "source": source,
                "strategy": strategy,
                "user_information": user_information,
                "prompts": prompts,
                "seed": seed,
                "single_exchanges": single_exchanges,
                "multi_exchanges": multi_exchanges,
                "single_turns": single_turns,
                "multi_turns": multi_turns,
                "passages": passages,
                "embedder": embedder,
                "budget_usd": budget_usd,
            },
            key=idempotency_key,
        )

    def experiment(self, experiment: int) -> types.Experiment:
        """An experiment."""
        return self.get(f"experiments/{experiment}")

    def simulated_dialogues(
        self,
        experiment: int,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        ending: Literal[
            "done",
            "limit",
            "at_once",
            "repetition",
            "user_empty",
            "user_other_side",
            "user_refusal",
            "user_echo",
            "user_cut_off",
            "user_too_long",
            "user_oversized",
            "user_failed",
            "assistant_empty",
            "assistant_other_side",
            "assistant_refusal",
            "assistant_echo",
            "assistant_cut_off",
            "assistant_too_long",
            "assistant_oversized",
            "assistant_failed",
        ] = OMITTED,
    ) -> Iterator[types.Simulated]:
        """The dialogues of an experiment, by their place in it."""
        return self.rows(f"experiments/{experiment}/dialogues", after=after, limit=limit, ending=ending)

    def simulated_dialogue(self, experiment: int, index: int) -> types.SimulatedWhole:
        """A dialogue of an experiment, turn by turn."""
        return self.get(f"experiments/{experiment}/dialogues/{index}")

    def experiment_differences(self, experiment: int) -> types.ComparedSettings:
        """The settings of an experiment beside those of PersonaLens."""
        return self.get(f"experiments/{experiment}/differences")

    def create_judge_study(
        self, experiment: int, user_checks: bool = OMITTED, *, idempotency_key: str | None = None
    ) -> types.MadeStudy:
        """All dialogues as a study for judges.

        `user_checks`: Ask whether the user agent is true to its part.
        """
        return self.post(f"experiments/{experiment}/judge", {"user_checks": user_checks}, key=idempotency_key)

    def create_people_study(
        self,
        experiment: int,
        *,
        n: int = OMITTED,
        draw: Literal["random", "stratified"] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.MadeStudy:
        """Send a sample of the dialogues to people, as a study.

        `n`: Dialogues for people. Three people rate each.
        `draw`: Sampling.
        """
        return self.post(f"experiments/{experiment}/people", {"n": n, "draw": draw}, key=idempotency_key)

    def experiment_progress(self, experiment: int) -> types.ExperimentProgress:
        """How far an experiment is."""
        return self.get(f"experiments/{experiment}/progress")

    def experiment_ranks(
        self,
        experiment: int,
        *,
        judge: str = OMITTED,
        assistant: str = OMITTED,
        condition: str = OMITTED,
        tasks: Literal["single", "multi"] = OMITTED,
        domain: str = OMITTED,
        turn: int = OMITTED,
        against: int = OMITTED,
        against_judge: str = OMITTED,
    ) -> Json:
        """How ranks change by another judge, or in another experiment.

        `judge`: Its name; if not given, who said most.
        `assistant`: Only dialogues with this assistant.
        `condition`: Only dialogues under this condition.
        `tasks`: Of one domain, or of several.
        `domain`: Only tasks that are about this domain.
        `turn`: Verdicts on this reply of the assistant.
        `against`: Another experiment; if not given, the same one.
        `against_judge`: Whose verdicts on that one.
        """
        return self.get(
            f"experiments/{experiment}/ranks",
            judge=judge,
            assistant=assistant,
            condition=condition,
            tasks=tasks,
            domain=domain,
            turn=turn,
            against=against,
            against_judge=against_judge,
        )

    def experiment_results(
        self,
        experiment: int,
        *,
        judge: str = OMITTED,
        assistant: str = OMITTED,
        condition: str = OMITTED,
        tasks: Literal["single", "multi"] = OMITTED,
        domain: str = OMITTED,
        turn: int = OMITTED,
        published: bool = OMITTED,
        whole: bool = OMITTED,
    ) -> Json:
        """All tables of an experiment by one judge, which a worker computes where it is large.

        `judge`: Its name; if not given, who said most.
        `assistant`: Only dialogues with this assistant.
        `condition`: Only dialogues under this condition.
        `tasks`: Of one domain, or of several.
        `domain`: Only tasks that are about this domain.
        `turn`: Verdicts on this reply of the assistant.
        `published`: With the numbers that PersonaLens printed.
        `whole`: Compute it now, however large the experiment is.
        """
        return self.get(
            f"experiments/{experiment}/results",
            judge=judge,
            assistant=assistant,
            condition=condition,
            tasks=tasks,
            domain=domain,
            turn=turn,
            published=published,
            whole=whole,
        )

    def compute_experiment_results(
        self,
        experiment: int,
        *,
        judge: str = OMITTED,
        assistant: str = OMITTED,
        condition: str = OMITTED,
        tasks: Literal["single", "multi"] = OMITTED,
        domain: str = OMITTED,
        turn: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Queued:
        """Leave the results of an experiment to a worker.

        `judge`: Its name; if not given, who said most.
        `assistant`: Only dialogues with this assistant.
        `condition`: Only dialogues under this condition.
        `tasks`: Of one domain, or of several.
        `domain`: Only tasks that are about this domain.
        `turn`: Verdicts on this reply of the assistant.
        """
        return self.post(
            f"experiments/{experiment}/results",
            {
                "judge": judge,
                "assistant": assistant,
                "condition": condition,
                "tasks": tasks,
                "domain": domain,
                "turn": turn,
            },
            key=idempotency_key,
        )

    def resume_experiment(
        self, experiment: int, budget_usd: float | str | None = OMITTED, *, idempotency_key: str | None = None
    ) -> types.Experiment:
        """Go on with an experiment.

        `budget_usd`: Budget in US dollars. In place of the budget, including what is spent.
        """
        return self.post(f"experiments/{experiment}/resume", {"budget_usd": budget_usd}, key=idempotency_key)

    def stop_experiment(self, experiment: int, *, idempotency_key: str | None = None) -> types.Experiment:
        """Stop an experiment; every turn is kept."""
        return self.post(f"experiments/{experiment}/stop", key=idempotency_key)

    def estimate_experiment(
        self,
        name: str,
        user_agent: types.Agent,
        assistants: Sequence[types.Agent],
        conditions: Sequence[str],
        *,
        project: str = OMITTED,
        users: str = OMITTED,
        tasks: str = OMITTED,
        source: str = OMITTED,
        strategy: Literal["vanilla", "chain_of_thought", "state_tracking"] = OMITTED,
        user_information: str = OMITTED,
        prompts: Mapping[str, str] = OMITTED,
        seed: int = OMITTED,
        single_exchanges: int | None = OMITTED,
        multi_exchanges: int | None = OMITTED,
        single_turns: int | None = OMITTED,
        multi_turns: int | None = OMITTED,
        passages: int = OMITTED,
        embedder: str = OMITTED,
        budget_usd: float | str | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.ExperimentEstimate:
        """What an experiment would take; nothing is made.

        `name`: Name.
        `conditions`: Conditions: what the assistant knows of the user. vanilla, base, base+D, base+I, base+S, base+all, none, base+I-retrieved, base+I-embedded; base+I-KIND-STEP of shortened, irrelevant, contradicted and (25, 50, 75, 100).
        `project`: Address of the project it goes into; the chosen one if not given.
        `users`: Users. A number to draw at random, ids separated by commas, or all.
        `tasks`: Tasks. A number to draw, ids with commas, all, single or multi; the last two also with a number. What a user does not care for is left out.
        `source`: Dataset. Whose profiles and tasks, where there are several sources.
        `strategy`: Strategy of the user agent.
        `user_information`: Information given to the user agent. faithful or task_preferences. Empty: faithful for PersonaLens, else task_preferences.
        `prompts`: Texts in place of Concord's own, by role: user_opening, user_later, assistant, vanilla.
        `seed`: Seed. The same seed draws the same.
        `single_exchanges`: Maximum exchanges, one domain. 20 if no limit is given. An exchange is a reply of the assistant and one of the user, after the user’s first message.
        `multi_exchanges`: Maximum exchanges, several domains. 30 if no limit is given.
        `single_turns`: In place of exchanges: messages of both sides, without a closing reply.
        `multi_turns`: The same for several domains.
        `passages`: Passages retrieved for a turn. For conditions with retrieval.
        `embedder`: Embedding model. For retrieval by embeddings: openai_compatible:MODEL. Parameters may follow as JSON.
        `budget_usd`: Budget in US dollars. The experiment stops itself before it costs more. Empty for none.
        """
        return self.post(
            "experiments/estimate",
            {
                "project": project,
                "name": name,
                "user_agent": user_agent,
                "assistants": assistants,
                "conditions": conditions,
                "users": users,
                "tasks": tasks,
                "source": source,
                "strategy": strategy,
                "user_information": user_information,
                "prompts": prompts,
                "seed": seed,
                "single_exchanges": single_exchanges,
                "multi_exchanges": multi_exchanges,
                "single_turns": single_turns,
                "multi_turns": multi_turns,
                "passages": passages,
                "embedder": embedder,
                "budget_usd": budget_usd,
            },
            key=idempotency_key,
        )

    # imports

    def import_file(
        self,
        path: str | Path,
        format: Literal[
            "dialogues",
            "pairs",
            "profiles",
            "tasks",
            "scenarios",
            "ratings",
            "judgments",
            "opentelemetry",
            "langsmith",
            "mlflow",
            "langfuse",
            "wildchat",
            "lmsys",
            "arena",
            "ultrafeedback",
            "hh_rlhf",
            "openai_preferences",
            "sharegpt",
            "anthropic",
            "openai",
            "labelstudio",
            "argilla",
            "doccano",
            "potato",
            "votes",
            "hf",
            "inspect",
            "benchmark",
            "personalens",
            "pandalm",
            "table",
        ],
        *,
        project: str = OMITTED,
        source: str = OMITTED,
        study: str = OMITTED,
        judge: str = OMITTED,
        mapping: str = OMITTED,
        on_error: Literal["stop", "skip"] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Counts:
        """Bring a file in.

        `project`: Address of the project it goes into; the chosen one if not given.
        `source`: Of material: whose ids these are.
        `study`: Of labels: the study, made if need be.
        `judge`: Of a judge's labels: its name.
        `mapping`: Of any table: which column is what, as JSON or TOML, or the name of a saved mapping.
        """
        return self._upload(
            "imports",
            path,
            {
                "project": project,
                "format": format,
                "source": source,
                "study": study,
                "judge": judge,
                "mapping": mapping,
                "on_error": on_error,
            },
            key=idempotency_key,
        )

    def import_formats(self) -> list[types.Format]:
        """Files that can be brought in."""
        return self.get("imports/formats")

    def guess_mapping(
        self, path: str | Path, *, mapping: str = OMITTED, idempotency_key: str | None = None
    ) -> types.GuessedMapping:
        """Look at a file before it is imported.

        `mapping`: The one to check, as JSON or TOML, or the name of a saved one. Guessed without it.
        """
        return self._upload("imports/guess", path, {"mapping": mapping}, key=idempotency_key)

    def mappings(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.SavedMapping]:
        """Saved mappings."""
        return self.rows("mappings", after=after, limit=limit)

    def save_mapping(
        self, name: str, mapping: Mapping[str, object], *, project: str = OMITTED, idempotency_key: str | None = None
    ) -> types.SavedMapping:
        """Keep a mapping under a name.

        `mapping`: Which column is what: kind or format, columns, constants, read, draw.
        `project`: Address of the project it goes into; the chosen one if not given.
        """
        return self.post("mappings", {"project": project, "name": name, "mapping": mapping}, key=idempotency_key)

    def mapping(self, number: int) -> types.SavedMapping:
        """A saved mapping."""
        return self.get(f"mappings/{number}")

    def delete_mapping(self, number: int, *, idempotency_key: str | None = None) -> None:
        """Delete a saved mapping."""
        self.send("DELETE", f"mappings/{number}", key=idempotency_key)

    # judges

    def judges(self, *, after: int = OMITTED, limit: int = OMITTED, name: str = OMITTED) -> Iterator[types.Judge]:
        """Judges, every version."""
        return self.rows("judges", after=after, limit=limit, name=name)

    def define_judge(
        self,
        name: str,
        provider: str,
        *,
        project: str = OMITTED,
        model: str = OMITTED,
        parameters: Mapping[str, object] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Judge:
        """The judge with exactly these settings: the latest version, or a new one.

        `name`: Name. Shown in tables and plots.
        `provider`: Provider.
        `project`: Address of the project it goes into; the chosen one if not given.
        `model`: Model. As its server calls it, for example claude-haiku-4-5. For a local one a GGUF file on this machine; empty for SmolLM2. The baseline: longer, first or chance for pairs; empty counts words.
        `parameters`: Parameters. JSON, such as {"concurrency": 8, "max_tokens": 1000}; never a key. Empty for the defaults.
        """
        return self.post(
            "judges",
            {"project": project, "name": name, "provider": provider, "model": model, "parameters": parameters},
            key=idempotency_key,
        )

    def judge(self, judge: int) -> types.Judge:
        """A judge."""
        return self.get(f"judges/{judge}")

    def delete_judge(self, judge: int, *, idempotency_key: str | None = None) -> None:
        """Remove a version that never ran."""
        self.send("DELETE", f"judges/{judge}", key=idempotency_key)

    def limits(self, judge: int) -> types.HeldLimits:
        """The limits of a judge, all versions together."""
        return self.get(f"judges/{judge}/limits")

    def set_limits(
        self,
        judge: int,
        *,
        daily_budget_usd: float | str | None = OMITTED,
        requests_per_minute: int | None = OMITTED,
        tokens_per_minute: int | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Judge:
        """Say what a judge may cost in a day and how fast its model may be asked.

        `daily_budget_usd`: Daily budget in US dollars. For all versions together. Empty: none.
        `requests_per_minute`: Requests a minute. To this model, by all judges and workers together.
        `tokens_per_minute`: Tokens a minute. Input and output.
        """
        return self.send(
            "PUT",
            f"judges/{judge}/limits",
            {
                "daily_budget_usd": daily_budget_usd,
                "requests_per_minute": requests_per_minute,
                "tokens_per_minute": tokens_per_minute,
            },
            key=idempotency_key,
        )

    def test_judge(self, judge: int, *, idempotency_key: str | None = None) -> types.Tested:
        """Ask whether a judge would answer; costs nothing."""
        return self.post(f"judges/{judge}/test", key=idempotency_key)

    def prices(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Price]:
        """Prices that people entered."""
        return self.rows("prices", after=after, limit=limit)

    def enter_price(
        self,
        provider: str,
        model: str,
        valid_from: str,
        input: float | str,
        output: float | str,
        *,
        cache_read: float | str | None = OMITTED,
        cache_write: float | str | None = OMITTED,
        batch_input: float | str | None = OMITTED,
        batch_output: float | str | None = OMITTED,
        note: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Price:
        """Enter what a model costs from a day on.

        `provider`: Provider.
        `model`: Model. As the judge names it.
        `valid_from`: From.
        `input`: Input tokens.
        `output`: Output tokens.
        `cache_read`: Cached input tokens.
        `cache_write`: Cache write tokens.
        `batch_input`: Batch input tokens.
        `batch_output`: Batch output tokens.
        `note`: Source of the price.
        """
        return self.post(
            "prices",
            {
                "provider": provider,
                "model": model,
                "valid_from": valid_from,
                "input": input,
                "output": output,
                "cache_read": cache_read,
                "cache_write": cache_write,
                "batch_input": batch_input,
                "batch_output": batch_output,
                "note": note,
            },
            key=idempotency_key,
        )

    def remove_price(self, number: int, *, idempotency_key: str | None = None) -> None:
        """Take a price back."""
        self.send("DELETE", f"prices/{number}", key=idempotency_key)

    def published_prices(self) -> list[types.PublishedPrice]:
        """Prices as providers publish them."""
        return self.get("prices/published")

    # runs

    def judgment(self, number: int) -> types.JudgmentWhole:
        """A judgment with the reply."""
        return self.get(f"judgments/{number}")

    def prompt(self, number: int) -> types.Prompt:
        """The prompt of a judgment; 404 where it was asked in no words."""
        return self.get(f"judgments/{number}/prompt")

    def runs(
        self, *, after: int = OMITTED, limit: int = OMITTED, study: str = OMITTED, judge: str = OMITTED
    ) -> Iterator[types.Run]:
        """Runs.

        `study`: Its slug.
        `judge`: Its name.
        """
        return self.rows("runs", after=after, limit=limit, study=study, judge=judge)

    def run(self, run: int) -> types.Run:
        """A run."""
        return self.get(f"runs/{run}")

    def retry_unscored(
        self, run: int, budget_usd: float | str | None = OMITTED, *, idempotency_key: str | None = None
    ) -> types.Run:
        """Ask again for the items of a run whose replies held no verdict.

        `budget_usd`: Budget in US dollars. In place of the budget, including what is spent.
        """
        return self.post(f"runs/{run}/ask-again", {"budget_usd": budget_usd}, key=idempotency_key)

    def judgments(
        self,
        run: int,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        criterion: str = OMITTED,
        position: int = OMITTED,
        unscored_reason: str = OMITTED,
    ) -> Iterator[types.Judgment]:
        """What a run said, oldest first."""
        return self.rows(
            f"runs/{run}/judgments",
            after=after,
            limit=limit,
            criterion=criterion,
            position=position,
            unscored_reason=unscored_reason,
        )

    def run_progress(self, run: int) -> types.RunProgress:
        """How far a run is, and what went wrong."""
        return self.get(f"runs/{run}/progress")

    def resume_run(
        self, run: int, budget_usd: float | str | None = OMITTED, *, idempotency_key: str | None = None
    ) -> types.Run:
        """Go on with what is left of a run.

        `budget_usd`: Budget in US dollars. In place of the budget, including what is spent.
        """
        return self.post(f"runs/{run}/resume", {"budget_usd": budget_usd}, key=idempotency_key)

    def run_scores(
        self,
        run: int,
        *,
        by: Literal["stratum", "domain", "condition", "assistant_model", "kind", "source_tier", "profile"] = OMITTED,
        read: Literal["verdict", "score"] = OMITTED,
    ) -> Json:
        """Means and distributions of a run, by group and by turn or response."""
        return self.get(f"runs/{run}/scores", by=by, read=read)

    def stop_run(self, run: int, *, idempotency_key: str | None = None) -> types.Run:
        """Stop a run; what was judged is kept."""
        return self.post(f"runs/{run}/stop", key=idempotency_key)

    def create_panel(
        self,
        slug: str,
        name: str,
        runs: Sequence[int],
        *,
        method: Literal["majority", "mean", "dawid_skene"] = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Run:
        """Combine finished runs of a study into a panel.

        `name`: Name. Shown in tables and plots.
        `runs`: Members.
        `method`: How they are combined.
        """
        return self.post(
            f"studies/{quote(slug)}/panels", {"name": name, "runs": runs, "method": method}, key=idempotency_key
        )

    def probes(
        self, slug: str, *, after: int = OMITTED, limit: int = OMITTED, judge: int = OMITTED
    ) -> Iterator[types.Probe]:
        """Runs on altered copies of items.

        `judge`: Its id.
        """
        return self.rows(f"studies/{quote(slug)}/probes", after=after, limit=limit, judge=judge)

    def start_probe(
        self,
        slug: str,
        judge: int,
        *,
        seed: int = OMITTED,
        budget_usd: float | str | None = OMITTED,
        use_cache: bool = OMITTED,
        criteria: Sequence[str] = OMITTED,
        in_bulk: bool = OMITTED,
        alterations: Sequence[str] = OMITTED,
        n: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Run:
        """Start a run on altered copies of items, for audits.

        `judge`: Its id.
        `seed`: Seed. The same seed draws the same.
        `budget_usd`: Budget in US dollars. The run stops itself before it costs more. Empty for none.
        `use_cache`: Otherwise the same question about the same item is not paid for twice.
        `criteria`: Criteria. Their keys; all if not given.
        `in_bulk`: Use the batch API. Half the price, answered within a day. For judges of provider Anthropic.
        `alterations`: Alterations. Names or families; by default all that fit the items: injection:note, injection:system, injection:answer, injection:user, length:padding, invariance:names, invariance:plain, invariance:bullets, invariance:spacing, invariance:profile_order.
        `n`: Items. Randomised; all of them where there are no more. More items detect smaller effects.
        """
        return self.post(
            f"studies/{quote(slug)}/probes",
            {
                "seed": seed,
                "budget_usd": budget_usd,
                "use_cache": use_cache,
                "criteria": criteria,
                "in_bulk": in_bulk,
                "alterations": alterations,
                "n": n,
                "judge": judge,
            },
            key=idempotency_key,
        )

    def start_run(
        self,
        slug: str,
        judge: int,
        *,
        seed: int = OMITTED,
        budget_usd: float | str | None = OMITTED,
        use_cache: bool = OMITTED,
        criteria: Sequence[str] = OMITTED,
        in_bulk: bool = OMITTED,
        repeats: int = OMITTED,
        order_policy: Literal["random", "AB", "BA", "both"] = OMITTED,
        unit: Literal["item", "turn", "response"] = OMITTED,
        every_turn: bool = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Run:
        """Start a run.

        `judge`: Its id.
        `seed`: Seed. The same seed draws the same.
        `budget_usd`: Budget in US dollars. The run stops itself before it costs more. Empty for none.
        `use_cache`: Otherwise the same question about the same item is not paid for twice.
        `criteria`: Criteria. Their keys; all if not given.
        `in_bulk`: Use the batch API. Half the price, answered within a day. For judges of provider Anthropic.
        `repeats`: Repeats. How often each question is asked. Two or more measure how consistent the judge is.
        `order_policy`: Order of the responses.
        `unit`: What is judged. Each by itself: whole items, turns of the assistant, or responses. If not given, responses where all criteria are asked of each response, else whole items.
        `every_turn`: Ask about every turn of the assistant, not the whole dialogue.
        """
        return self.post(
            f"studies/{quote(slug)}/runs",
            {
                "seed": seed,
                "budget_usd": budget_usd,
                "use_cache": use_cache,
                "criteria": criteria,
                "in_bulk": in_bulk,
                "judge": judge,
                "repeats": repeats,
                "order_policy": order_policy,
                "unit": unit,
                "every_turn": every_turn,
            },
            key=idempotency_key,
        )

    def estimate_run(
        self,
        slug: str,
        judge: int,
        *,
        seed: int = OMITTED,
        budget_usd: float | str | None = OMITTED,
        use_cache: bool = OMITTED,
        criteria: Sequence[str] = OMITTED,
        in_bulk: bool = OMITTED,
        repeats: int = OMITTED,
        order_policy: Literal["random", "AB", "BA", "both"] = OMITTED,
        unit: Literal["item", "turn", "response"] = OMITTED,
        every_turn: bool = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Estimate:
        """What a run would take; nothing is made.

        `judge`: Its id.
        `seed`: Seed. The same seed draws the same.
        `budget_usd`: Budget in US dollars. The run stops itself before it costs more. Empty for none.
        `use_cache`: Otherwise the same question about the same item is not paid for twice.
        `criteria`: Criteria. Their keys; all if not given.
        `in_bulk`: Use the batch API. Half the price, answered within a day. For judges of provider Anthropic.
        `repeats`: Repeats. How often each question is asked. Two or more measure how consistent the judge is.
        `order_policy`: Order of the responses.
        `unit`: What is judged. Each by itself: whole items, turns of the assistant, or responses. If not given, responses where all criteria are asked of each response, else whole items.
        `every_turn`: Ask about every turn of the assistant, not the whole dialogue.
        """
        return self.post(
            f"studies/{quote(slug)}/runs/estimate",
            {
                "seed": seed,
                "budget_usd": budget_usd,
                "use_cache": use_cache,
                "criteria": criteria,
                "in_bulk": in_bulk,
                "judge": judge,
                "repeats": repeats,
                "order_policy": order_policy,
                "unit": unit,
                "every_turn": every_turn,
            },
            key=idempotency_key,
        )

    # account

    def me(self) -> types.Me:
        """Who is calling, and what the token allows."""
        return self.get("me")

    def erasure(self, username: str) -> types.Erasure:
        """What erasing an account would mean."""
        return self.get(f"people/{quote(username)}/erase")

    def erase_person(
        self, username: str, confirm: str, *, notes: bool = OMITTED, idempotency_key: str | None = None
    ) -> types.Erasure:
        """Erase an account for good: name, e-mail and all else that says who it was.

        `confirm`: The username once more: this cannot be undone.
        `notes`: Also what they wrote beside labels.
        """
        return self.post(f"people/{quote(username)}/erase", {"confirm": confirm, "notes": notes}, key=idempotency_key)

    def tokens(self) -> list[types.Token]:
        """My tokens."""
        return self.get("tokens")

    def revoke_token(self, number: int, *, idempotency_key: str | None = None) -> None:
        """Revoke one of my tokens."""
        self.send("DELETE", f"tokens/{number}", key=idempotency_key)

    # projects

    def projects(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Project]:
        """Projects that I research in."""
        return self.rows("projects", after=after, limit=limit)

    def create_project(self, name: str, *, idempotency_key: str | None = None) -> types.Project:
        """Make a project, as the site's administration; its maker owns it."""
        return self.post("projects", {"name": name}, key=idempotency_key)

    def project(self, slug: str) -> types.Project:
        """A project."""
        return self.get(f"projects/{quote(slug)}")

    def choose_project(self, slug: str, *, idempotency_key: str | None = None) -> types.Project:
        """From now on what I make goes there, unless a request names another project."""
        return self.post(f"projects/{quote(slug)}/choose", key=idempotency_key)

    def keys(self, slug: str, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.ModelKey]:
        """For which addresses a project has keys of models."""
        return self.rows(f"projects/{quote(slug)}/keys", after=after, limit=limit)

    def set_key(
        self, slug: str, address: str, key: str, *, note: str = OMITTED, idempotency_key: str | None = None
    ) -> types.ModelKey:
        """Keep a key for an address, in place of one that is there.

        `address`: Address. The server that needs the key: https://api.openai.com, https://api.anthropic.com, or your own. The path does not matter. The key is sent there and nowhere else.
        `key`: Key. Replaces the key that is stored for this address.
        `note`: Note. Who pays, for example.
        """
        return self.post(
            f"projects/{quote(slug)}/keys", {"address": address, "key": key, "note": note}, key=idempotency_key
        )

    def delete_key(self, slug: str, number: int, *, idempotency_key: str | None = None) -> None:
        """Forget a key."""
        self.send("DELETE", f"projects/{quote(slug)}/keys/{number}", key=idempotency_key)

    def members(self, slug: str, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Member]:
        """Who is in a project."""
        return self.rows(f"projects/{quote(slug)}/members", after=after, limit=limit)

    def add_member(
        self,
        slug: str,
        user: str,
        role: Literal["owner", "researcher", "adjudicator"],
        *,
        idempotency_key: str | None = None,
    ) -> types.Member:
        """Give an account a role in a project.

        `user`: Username.
        """
        return self.post(f"projects/{quote(slug)}/members", {"user": user, "role": role}, key=idempotency_key)

    def member(self, slug: str, user: str) -> types.Member:
        """A member of a project."""
        return self.get(f"projects/{quote(slug)}/members/{quote(user)}")

    def change_member(
        self,
        slug: str,
        user: str,
        role: Literal["owner", "researcher", "adjudicator"] = OMITTED,
        *,
        idempotency_key: str | None = None,
    ) -> types.Member:
        """Give a member another role; a project keeps an owner."""
        return self.send("PATCH", f"projects/{quote(slug)}/members/{quote(user)}", {"role": role}, key=idempotency_key)

    def remove_member(self, slug: str, user: str, *, idempotency_key: str | None = None) -> None:
        """Take a member out; what they did stays."""
        self.send("DELETE", f"projects/{quote(slug)}/members/{quote(user)}", key=idempotency_key)

    # queue

    def admissions(self, slug: str, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Admission]:
        """Training and qualification of participants."""
        return self.rows(f"studies/{quote(slug)}/admissions", after=after, limit=limit)

    def decide_admission(
        self,
        slug: str,
        annotator: str,
        decision: Literal["admit", "again"],
        reason: str,
        *,
        idempotency_key: str | None = None,
    ) -> types.Admission:
        """Let somebody through to the work, or try once more.

        `annotator`: Username.
        `decision`: Let them rate, or try once more.
        """
        return self.post(
            f"studies/{quote(slug)}/admissions",
            {"annotator": annotator, "decision": decision, "reason": reason},
            key=idempotency_key,
        )

    def gold_questions(
        self,
        slug: str,
        *,
        after: int = OMITTED,
        limit: int = OMITTED,
        purpose: Literal["check", "training", "qualification"] = OMITTED,
        retired: bool = OMITTED,
    ) -> Iterator[types.KnownItem]:
        """Items with known answers: checks, training, qualification.

        `retired`: Also those that are retired.
        """
        return self.rows(f"studies/{quote(slug)}/known", after=after, limit=limit, purpose=purpose, retired=retired)

    def add_gold_questions(
        self,
        slug: str,
        purpose: Literal["check", "training", "qualification"],
        items: Sequence[types.NewKnownItem],
        *,
        round: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Named:
        """Name items with their right answers, all or none."""
        return self.post(
            f"studies/{quote(slug)}/known", {"purpose": purpose, "round": round, "items": items}, key=idempotency_key
        )

    def gold_question(self, slug: str, number: int) -> types.KnownItem:
        """An item with known answers."""
        return self.get(f"studies/{quote(slug)}/known/{number}")

    def retire_gold_question(self, slug: str, number: int, *, idempotency_key: str | None = None) -> None:
        """Hand it out no more, and count answers to it no more."""
        self.send("DELETE", f"studies/{quote(slug)}/known/{number}", key=idempotency_key)

    def add_decided_gold_questions(
        self,
        slug: str,
        purpose: Literal["check", "training", "qualification"],
        decided_in: str,
        *,
        round: int = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Named:
        """Name what was decided in a study, with these answers.

        `decided_in`: Address of the study in which they were decided.
        """
        return self.post(
            f"studies/{quote(slug)}/known/decided",
            {"purpose": purpose, "round": round, "decided_in": decided_in},
            key=idempotency_key,
        )

    def queue(self, slug: str) -> types.Rules:
        """The rules of a study's queue."""
        return self.get(f"studies/{quote(slug)}/queue")

    def set_queue(
        self,
        slug: str,
        *,
        check_every: int = OMITTED,
        repeat_every: int = OMITTED,
        repeat_after: int = OMITTED,
        item_limit: int | None = OMITTED,
        pass_mark: float | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Rules:
        """Set rules of the queue.

        `check_every`: One item in … is a check. From 2, for example 20. 0 for no checks.
        `repeat_every`: One item in … is a repeat. From 2: an item that the same person rated before, for self-consistency. 0 for none.
        `repeat_after`: Other items before a repeat, at least.
        `item_limit`: Items per person, at most. Checks and repeats included. Empty for no limit.
        `pass_mark`: Pass mark of the qualification. Share of right answers, from 0 to 1. Without one nothing is asked before the work.
        """
        return self.send(
            "PATCH",
            f"studies/{quote(slug)}/queue",
            {
                "check_every": check_every,
                "repeat_every": repeat_every,
                "repeat_after": repeat_after,
                "item_limit": item_limit,
                "pass_mark": pass_mark,
            },
            key=idempotency_key,
        )

    def queue_changes(self, slug: str, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Change]:
        """Who set the rules when."""
        return self.rows(f"studies/{quote(slug)}/queue/changes", after=after, limit=limit)

    # exports

    def download_archive(self, slug: str, path: str | Path) -> None:
        """A study with all that it rests on as one file, to be restored on another site."""
        self._download(f"studies/{quote(slug)}/archive.zip", path)

    def exports(self, slug: str) -> list[types.Tool]:
        """The tools for which a study can be written."""
        return self.get(f"studies/{quote(slug)}/exports")

    def export(self, slug: str, tool: str, path: str | Path) -> None:
        """A study as the files of another tool, in one ZIP archive."""
        self._download(f"studies/{quote(slug)}/exports/{quote(tool)}.zip", path)

    def export_labels(
        self, slug: str, form: str, path: str | Path, *, purpose: str = OMITTED, tiers: bool = OMITTED
    ) -> None:
        """All labels of a study as csv, jsonl or parquet, streamed.

        `purpose`: Of people's answers: rating, check, repeat, with commas.
        `tiers`: With each item's tier by the difficulty model.
        """
        self._download(f"studies/{quote(slug)}/labels.{quote(form)}", path, purpose=purpose, tiers=tiers)

    # recruitment

    def intake(self, slug: str) -> types.Intake:
        """How people come into a study."""
        return self.get(f"studies/{quote(slug)}/intake")

    def set_intake(
        self,
        slug: str,
        *,
        is_public: bool = OMITTED,
        completion_code: str = OMITTED,
        completion_url: str = OMITTED,
        consent_text: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Intake:
        """Set how people come in, and what they agree to.

        `consent_text`: Empty: people agree to nothing.
        """
        return self.send(
            "PATCH",
            f"studies/{quote(slug)}/intake",
            {
                "is_public": is_public,
                "completion_code": completion_code,
                "completion_url": completion_url,
                "consent_text": consent_text,
            },
            key=idempotency_key,
        )

    def invitations(self, slug: str, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Invitation]:
        """Links into a study, revoked ones too."""
        return self.rows(f"studies/{quote(slug)}/invitations", after=after, limit=limit)

    def invite(
        self,
        slug: str,
        *,
        max_uses: int | None = OMITTED,
        expires_at: str | None = OMITTED,
        platform: Literal["prolific", "mturk", ""] = OMITTED,
        note: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.MadeInvitation:
        """Make a link into a study.

        `note`: For you.
        """
        return self.post(
            f"studies/{quote(slug)}/invitations",
            {"max_uses": max_uses, "expires_at": expires_at, "platform": platform, "note": note},
            key=idempotency_key,
        )

    def invitation(self, slug: str, number: int) -> types.Invitation:
        """A link into a study."""
        return self.get(f"studies/{quote(slug)}/invitations/{number}")

    def revoke_invitation(self, slug: str, number: int, *, idempotency_key: str | None = None) -> None:
        """Let nobody join by it any more; who joined stays."""
        self.send("DELETE", f"studies/{quote(slug)}/invitations/{number}", key=idempotency_key)

    def participants(self, slug: str) -> list[types.Participant]:
        """Who is or was in a study, by which way, and what they decided."""
        return self.get(f"studies/{quote(slug)}/participants")

    def withdraw(self, slug: str, annotator: str, *, idempotency_key: str | None = None) -> types.Withdrawal:
        """Withdraw somebody who asked for it: all that they gave is erased."""
        return self.post(f"studies/{quote(slug)}/participants/{quote(annotator)}/withdraw", key=idempotency_key)

    def questions(self, slug: str) -> list[types.Question]:
        """What people are asked about themselves."""
        return self.get(f"studies/{quote(slug)}/questions")

    def add_question(
        self, slug: str, text: str, options: Sequence[str], *, key: str = OMITTED, idempotency_key: str | None = None
    ) -> types.Question:
        """Ask people one thing more."""
        return self.post(
            f"studies/{quote(slug)}/questions", {"text": text, "options": options, "key": key}, key=idempotency_key
        )

    def delete_question(self, slug: str, key: str, *, idempotency_key: str | None = None) -> types.Erased:
        """Ask it no more, and erase what was answered."""
        return self.send("DELETE", f"studies/{quote(slug)}/questions/{quote(key)}", key=idempotency_key)

    # system

    def system(self) -> types.System:
        """What waits, who works, and what needs somebody, as the page System."""
        return self.get("system")

    # webhooks

    def webhooks(self, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Webhook]:
        """Webhooks, ended ones too."""
        return self.rows("webhooks", after=after, limit=limit)

    def add_webhook(
        self,
        url: str,
        events: Sequence[
            Literal["label.submitted", "study.finished", "study.closed", "run.finished", "experiment.finished", "ping"]
        ],
        *,
        project: str = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.MadeWebhook:
        """Have an address told of events.

        `url`: http or https, at a public address.
        `project`: Address of the project it goes into; the chosen one if not given.
        """
        return self.post("webhooks", {"project": project, "url": url, "events": events}, key=idempotency_key)

    def webhook(self, number: int) -> types.Webhook:
        """A webhook."""
        return self.get(f"webhooks/{number}")

    def end_webhook(self, number: int, *, idempotency_key: str | None = None) -> None:
        """Tell it nothing more; what it was told stays on record."""
        self.send("DELETE", f"webhooks/{number}", key=idempotency_key)

    def deliveries(self, number: int, *, after: int = OMITTED, limit: int = OMITTED) -> Iterator[types.Delivery]:
        """What it was told, and what became of it."""
        return self.rows(f"webhooks/{number}/deliveries", after=after, limit=limit)

    def ping_webhook(self, number: int, *, idempotency_key: str | None = None) -> types.Delivery:
        """Send it a message, to try it."""
        return self.post(f"webhooks/{number}/ping", key=idempotency_key)

    # work

    def my_studies(self) -> list[types.MyStudy]:
        """The open studies that I rate in."""
        return self.get("work")

    def my_items(self, slug: str, *, state: str = OMITTED, q: str = OMITTED) -> list[types.MyItem]:
        """My items of a study, the newest first.

        `state`: One that they are in.
        `q`: Text that they hold.
        """
        return self.get(f"work/{quote(slug)}/items", state=state, q=q)

    def next_item(
        self, slug: str, holding: Sequence[str] = OMITTED, *, idempotency_key: str | None = None
    ) -> types.Assignment | None:
        """Take the next item to rate.

        `holding`: Ids of assignments that the caller holds already.
        """
        return self.post(f"work/{quote(slug)}/next", {"holding": holding}, key=idempotency_key)

    def assignment(self, assignment: str) -> types.Assignment:
        """An item in my work."""
        return self.get(f"work/items/{quote(assignment)}")

    def submit(
        self,
        assignment: str,
        answers: Mapping[str, types.Answer],
        *,
        active_seconds: float = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Submitted:
        """Hand in the labels of an item, or replace them.

        `answers`: By the name of the ask.
        """
        return self.send(
            "PUT",
            f"work/items/{quote(assignment)}/answers",
            {"answers": answers, "active_seconds": active_seconds},
            key=idempotency_key,
        )

    def decline(self, assignment: str, reason: str, *, idempotency_key: str | None = None) -> types.Submitted:
        """Say that nothing of an item can be judged, with one reason.

        `reason`: Why nothing of this item can be judged.
        """
        return self.post(f"work/items/{quote(assignment)}/decline", {"reason": reason}, key=idempotency_key)

    def save_draft(
        self,
        assignment: str,
        *,
        changes: Mapping[str, str] = OMITTED,
        active_seconds: float = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Kept:
        """Keep what is entered and not handed in; renews the lease.

        `changes`: By the name of the input: ASK, ASK-unscored, ASK-note, ASK-evidence, ASK-version.
        """
        return self.send(
            "PATCH",
            f"work/items/{quote(assignment)}/draft",
            {"changes": changes, "active_seconds": active_seconds},
            key=idempotency_key,
        )

    def mark(
        self, assignment: str, *, flagged: bool = OMITTED, later: bool = OMITTED, idempotency_key: str | None = None
    ) -> types.Marks:
        """Flag an item for the researchers, or mark it for later.

        `flagged`: Flag for the researcher.
        `later`: Mark for later.
        """
        return self.send(
            "PATCH", f"work/items/{quote(assignment)}/marks", {"flagged": flagged, "later": later}, key=idempotency_key
        )

    def my_messages(self, assignment: str) -> list[types.MyMessage]:
        """My thread on an item."""
        return self.get(f"work/items/{quote(assignment)}/messages")

    def ask_about_item(self, assignment: str, text: str, *, idempotency_key: str | None = None) -> types.MyMessage:
        """Write to the researchers about an item.

        `text`: Message.
        """
        return self.post(f"work/items/{quote(assignment)}/messages", {"text": text}, key=idempotency_key)

    def put_back(self, assignment: str, *, idempotency_key: str | None = None) -> types.Freed:
        """Free an item that was taken and never worked on."""
        return self.post(f"work/items/{quote(assignment)}/put-back", key=idempotency_key)

    def skip(self, assignment: str, *, idempotency_key: str | None = None) -> types.Submitted:
        """Put an item off; it comes back when nothing else is left."""
        return self.post(f"work/items/{quote(assignment)}/skip", key=idempotency_key)
