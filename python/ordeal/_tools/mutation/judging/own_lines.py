"""The lines that cover a mutant: a test or a trace that runs one of them judges it."""

from __future__ import annotations

from collections.abc import Mapping

from ordeal._tools.mutation.mutants import Mutant, compiled_unit
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import codes_in, original_unit

Place = tuple[str, tuple[int, int] | None]


class OwnLines:
    """Knows the lines that have code, of each function that was asked for."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._found: dict[Place, set[int]] = {}

    def of(self, mutant: Mutant) -> set[int]:
        """Return the lines of a mutant's statement that have code; where none has, all of its function."""
        key = mutant.place
        if key not in self._found:
            source = self._sources[mutant.shown]
            function = mutant.function
            unit = compiled_unit(source, source.text, None) if function is None else original_unit(source, function)
            self._found[key] = {
                line for code in codes_in(unit) if code.co_name != "<module>" for *_, line in code.co_lines() if line
            }
        first, last = mutant.lines
        return {line for line in self._found[key] if first <= line <= last} or self._found[key]
