"""List what people and scripts rely on: commands with options, routes, API operations with fields, tables with columns.

python scripts/inventory.py > after.json                          print the inventory of this checkout
python scripts/inventory.py --against before.json                 say what is gone since, and exit 1 if anything is
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.core.management import get_commands, load_command_class  # noqa: E402
from django.urls import URLPattern, URLResolver, get_resolver  # noqa: E402
from drf_spectacular.generators import SchemaGenerator  # noqa: E402

from core.accounts.permissions import to_plain_route  # noqa: E402

OWN = ("annotation", "judging", "simulation", "config", "core")


def iterate_commands() -> Iterator[str]:
    """Each command of the site and each of its options."""
    for name, app in get_commands().items():
        if str(app).split(".")[0] not in OWN:
            continue
        parser = load_command_class(str(app), name).create_parser("manage.py", name)
        yield name
        for action in parser._actions:
            yield from (f"{name} {option}" for option in action.option_strings or [action.dest])


def iterate_routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    """Each address and each name of one."""
    for pattern in patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from iterate_routes(pattern.url_patterns, here)
        else:
            yield to_plain_route(here)
            if pattern.name:
                yield f"name {pattern.name}"


def iterate_operations() -> Iterator[str]:
    """Each operation of the API, and each field of its body, query and answer."""
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    schemas = document["components"]["schemas"]
    for address, methods in document["paths"].items():
        for method, operation in methods.items():
            here = f"{method.upper()} {address}"
            yield here
            yield from (f"{here} ?{one['name']}" for one in operation.get("parameters", ()))
            bodies = [("<", operation.get("requestBody", {}))]
            bodies += [(">", answer) for code, answer in operation["responses"].items() if code.startswith("2")]
            for way, body in bodies:
                for content in body.get("content", {}).values():
                    yield from (f"{here} {way} {field}" for field in iterate_fields(content.get("schema", {}), schemas))


def iterate_fields(schema: dict[str, Any], schemas: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[str]:
    """The fields of a schema with dots for what is nested; a schema within itself is not followed."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        if name not in above:
            yield from iterate_fields(schemas[name], schemas, (*above, name))
        return
    for part in (*schema.get("allOf", ()), *schema.get("oneOf", ())):
        yield from iterate_fields(part, schemas, above)
    if items := schema.get("items"):
        yield from iterate_fields(items, schemas, above)
    for field, part in schema.get("properties", {}).items():
        yield field
        yield from (f"{field}.{inner}" for inner in iterate_fields(part, schemas, above))


def iterate_tables() -> Iterator[str]:
    """Each table and each of its columns."""
    for model in apps.get_models(include_auto_created=True):
        table = model._meta.db_table
        yield table
        yield from (f"{table}.{field.column}" for field in model._meta.concrete_fields)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="FILE", help="an inventory of before")
    given = parser.parse_args()
    found = {
        "commands": sorted(set(iterate_commands())),
        "routes": sorted(set(iterate_routes(get_resolver().url_patterns))),
        "operations": sorted(set(iterate_operations())),
        "tables": sorted(set(iterate_tables())),
    }
    if given.against is None:
        print(json.dumps(found, indent=1))
        return
    before = json.loads(given.against.read_text())
    gone = {kind: sorted(set(before[kind]) - set(names)) for kind, names in found.items()}
    for kind, names in found.items():
        print(f"{kind}: {len(before[kind])} before, {len(names)} now, {len(gone[kind])} gone")
        print("".join(f"  {name}\n" for name in gone[kind]), end="")
    sys.exit(1 if any(gone.values()) else 0)


if __name__ == "__main__":
    main()
