"""Small programs with one planted bug each, and the switch that takes the bugs out."""

_repaired = False


def repair() -> None:
    """Take all planted bugs out, for the rest of the process."""
    global _repaired  # noqa: PLW0603  The one switch, thrown once before a search begins.
    _repaired = True


def is_repaired() -> bool:
    """Whether the planted bugs are taken out."""
    return _repaired
