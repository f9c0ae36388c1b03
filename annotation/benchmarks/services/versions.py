"""Versions of a benchmark: made as a draft, released once, and then only followed by other versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation.benchmarks.models import Benchmark
from annotation.studies.models.studies import Study
from core.accounts.models.projects import choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.names import check_name, number_name
from core.version import code_version

RESERVED_SLUGS = ("new",)  # its place among the addresses is that of the form
LONGEST_NAME, LONGEST_VERSION, LONGEST_SLUG = 120, 40, 150


@audited("benchmark.create", says=("version", "parent"))
def create(
    *,
    by: User | None,
    name: str,
    version: str,
    made: Mapping[str, Any],
    notes: str = "",
    parent: Benchmark | None = None,
    study: Study | None = None,
    input_hash: str = "",
) -> Benchmark:
    """A draft without cases. InputError where that version of the name is there already."""
    above = parent or study
    benchmark = Benchmark(
        project=above.project if above else choose_project(by),
        name=check_text("name", name, LONGEST_NAME),
        version=check_text("version", version, LONGEST_VERSION),
        notes=notes.strip(),
        parent=parent,
        study=study,
        made={**made, **({"parent": {"name": parent.name, "version": parent.version}} if parent else {})},
        input_hash=input_hash,
        code_version=code_version(),
        created_by=by,
    )
    benchmark.slug = free_slug(f"{benchmark.name} {benchmark.version}")
    try:
        with transaction.atomic():
            benchmark.save(force_insert=True)
    except IntegrityError as error:
        raise InputError(f"There is a version {version!r} of {name!r} already.", field="version") from error
    return benchmark


@audited("benchmark.release", on="benchmark")
def release(*, by: User | None, benchmark: Benchmark) -> Benchmark:  # noqa: ARG001
    """From now on neither the benchmark nor its cases change.

    InputError where it, or one of its splits, has no case that counts.
    """
    with transaction.atomic():
        locked = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        if locked.is_released:
            raise InputError(f"{locked} is released already.", field="benchmark")
        if not locked.cases.only_counting().exists():
            raise InputError(f"{locked} has no case with gold.", field="benchmark")
        filled = set(locked.cases.only_counting().values_list("split", flat=True))
        if empty := [name for name in locked.made.get("splits", {}) if name not in filled]:
            raise InputError(f"The split {empty[0]} of {locked} has no case that counts.", field="benchmark")
        locked.state, locked.released_at = Benchmark.State.RELEASED, timezone.now()
        locked.save()
    return locked


def check_text(field: str, text: str, longest: int) -> str:
    return check_name(text, what="A benchmark", longest=longest, field=field)


def free_slug(name: str) -> str:
    """The name as it can stand in an address, with a number where that is taken."""
    base = slugify(name.replace(".", "-"))[:LONGEST_SLUG] or "benchmark"
    taken = {*RESERVED_SLUGS, *Benchmark.objects.filter(slug__startswith=base).values_list("slug", flat=True)}
    return number_name(base, taken)
