"""The JSON Schema of ``ordeal.toml``, for editors that complete and check it; made from the table of options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

import msgspec

from ordeal.config.options import DEFAULT_PATH, SECTIONS
from ordeal.config.table import Table, keys_of


def config_schema() -> dict[str, Any]:
    """Return the schema. It says what kind of value each key has, and in words what else must hold of it."""
    tables = {section: _table(section, declared) for section, declared in SECTIONS.items()}
    tables["tests"] = {"type": "array", "items": tables["tests"]}
    return {"title": DEFAULT_PATH, "type": "object", "properties": tables, "additionalProperties": False}


def _table(section: str, declared: type[Table]) -> dict[str, Any]:
    """Return the schema of a section. TOML has no null: a key is left out instead."""
    hints, options = get_type_hints(declared), keys_of(declared)
    record = msgspec.defstruct(section, [(each.name, hints[each.name], each.default) for each in options.values()])
    _, definitions = msgspec.json.schema_components([record])
    fields: Mapping[str, Mapping[str, Any]] = definitions[section]["properties"]
    table: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    for key, option in options.items():
        field = fields[option.name]
        kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
        kept = {name: value for name, value in kinds[0].items() if name in ("type", "enum", "items")}
        default = field.get("default")
        shown = {"default": list(default) if isinstance(default, tuple) else default} if default is not None else {}
        table["properties"][key] = {"description": f"Must be {option.check.expected}.", **kept, **shown}
    return {**table, "required": ["class"]} if section == "tests" else table
