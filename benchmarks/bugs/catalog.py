"""The targets of the suite: what each is, which releases it pins, and how hard it is for the peers."""

from dataclasses import dataclass

EASY = "easy"
MEDIUM = "medium"
HARD = "hard"
TIERS = (EASY, MEDIUM, HARD)


@dataclass(frozen=True, slots=True)
class Target:
    """A program with one bug, and where its machine is.

    Attributes:
        name: the module in ``bugs.targets``.
        tier: easy when Hypothesis finds it in about a second, backend in seconds or not with every seed, hard rarely or
            never in ten seconds.
        modules: what the engines may trace.
        summary: what goes wrong.
        package: the library on the package index; empty for a synthetic target.
        buggy: the release that has the bug.
        repaired: the release whose changelog says that it is gone.
        requires: pinned packages that the library imports.
    """

    name: str
    tier: str
    modules: tuple[str, ...]
    summary: str
    package: str = ""
    buggy: str = ""
    repaired: str = ""
    requires: tuple[str, ...] = ()

    @property
    def is_real(self) -> bool:
        """Whether the bug was in a release of a library."""
        return bool(self.package)

    def requirements(self, *, repaired: bool) -> list[str]:
        """What pip must install for it."""
        return [f"{self.package}=={self.repaired if repaired else self.buggy}", *self.requires]


def _real(
    name: str, tier: str, modules: tuple[str, ...], releases: tuple[str, str, str], summary: str, *requires: str
) -> Target:
    return Target(name, tier, modules, summary, *releases, requires)


_H2_NEEDS = ("hyperframe==5.2.0", "hpack==3.0.0")
_FS_NEEDS = ("pytz==2023.3", "six==1.16.0", "appdirs==1.4.4")

TARGETS = (
    _real(
        "boltons_lru",
        EASY,
        ("boltons",),
        ("boltons", "23.0.0", "23.1.0"),
        "an entry written twice keeps its first value",
    ),
    _real(
        "boltons_indexedset",
        MEDIUM,
        ("boltons",),
        ("boltons", "26.0.0", "26.1.0"),
        "slices after a removal are shifted",
    ),
    _real(
        "dateutil_rruleset",
        EASY,
        ("dateutil.rrule",),
        ("python-dateutil", "2.5.0", "2.5.1"),
        "dates added after a look are not in the cache",
        "six==1.16.0",
    ),
    _real(
        "h2_window", EASY, ("h2",), ("h2", "3.1.1", "3.2.0"), "the window leaks on streams that are reset", *_H2_NEEDS
    ),
    _real("msgpack_feed", EASY, ("msgpack",), ("msgpack", "0.5.5", "0.5.6"), "feed() drops bytes of an open message"),
    _real("boltons_barrellist", EASY, ("boltons",), ("boltons", "25.0.0", "26.0.0"), "a list in parts cannot sort"),
    _real("cacheout_lfu", MEDIUM, ("cacheout",), ("cacheout", "0.11.1", "0.11.2"), "the cache outgrows its bound"),
    _real(
        "cachetools_tlru",
        MEDIUM,
        ("cachetools",),
        ("cachetools", "7.1.4", "7.1.5"),
        "a stale value survives an overwrite that is born expired",
    ),
    _real("chess_crazyhouse", MEDIUM, ("chess",), ("chess", "1.9.1", "1.9.2"), "moves generated inside others raise"),
    _real("hpack_resize", EASY, ("hpack",), ("hpack", "2.3.0", "3.0.0"), "two resizes in a row cannot be decoded"),
    _real(
        "memoryfs_move",
        MEDIUM,
        ("fs",),
        ("fs", "2.4.14", "2.4.15"),
        "a moved file keeps its old name in scandir",
        *_FS_NEEDS,
    ),
    _real(
        "pyrsistent_pmap",
        EASY,
        ("pyrsistent",),
        ("pyrsistent", "0.19.1", "0.19.2"),
        "entries of a map are lost when it grows",
    ),
    _real("tinydb_lru", MEDIUM, ("tinydb",), ("tinydb", "3.1.0", "3.1.1"), "a look in vain breaks eviction"),
    _real(
        "zict_evict",
        MEDIUM,
        ("zict",),
        ("zict", "2.0.0", "2.1.0"),
        "a value is lost when the disk is full",
        "heapdict==1.0.1",
    ),
    _real(
        "intervaltree_prune",
        EASY,
        ("intervaltree",),
        ("intervaltree", "2.0.0", "3.0.0"),
        "an empty node stays after a rotation",
        "sortedcontainers==2.4.0",
    ),
    _real(
        "intervaltree_rotate",
        HARD,
        ("intervaltree",),
        ("intervaltree", "2.1.0", "3.0.0"),
        "a removal leaves the tree out of balance",
        "sortedcontainers==2.4.0",
    ),
    _real(
        "fakeredis_zpop",
        EASY,
        ("fakeredis",),
        ("fakeredis", "2.37.0", "2.37.1"),
        "an emptied sorted set stays a key",
        "redis==7.1.0",
        "sortedcontainers==2.4.0",
    ),
    _real("tomlkit_inline", EASY, ("tomlkit",), ("tomlkit", "0.15.0", "0.15.1"), "a removed key leaves its comma"),
    _real("tomlkit_parts", EASY, ("tomlkit",), ("tomlkit", "0.13.2", "0.13.3"), "a replaced table is written twice"),
    _real(
        "croniter_leap",
        HARD,
        ("croniter",),
        ("croniter", "6.2.0", "6.2.1"),
        "the 29th of February is passed over backwards",
        "python-dateutil==2.9.0.post0",
        "six==1.16.0",
        "pytz==2025.2",
    ),
    _real(
        "cachelib_add",
        MEDIUM,
        ("cachelib",),
        ("cachelib", "0.13.0", "0.14.0"),
        "what has expired cannot be added again",
    ),
    _real(
        "pyte_margin",
        HARD,
        ("pyte",),
        ("pyte", "0.5.2", "0.6.0"),
        "the cursor goes back too little from a full row",
        "wcwidth==0.2.13",
    ),
    _real(
        "pyfakefs_buffer",
        HARD,
        ("pyfakefs",),
        ("pyfakefs", "5.7.4", "5.8.0"),
        "a text that ends with the buffer is lost",
    ),
    _real(
        "multipart_escape",
        EASY,
        ("python_multipart",),
        ("python-multipart", "0.0.32", "0.0.33"),
        "an escape that is split takes more along",
    ),
    _real(
        "portion_touch",
        MEDIUM,
        ("portion",),
        ("portion", "2.1.1", "2.1.2"),
        "parts that touch are not joined",
        "sortedcontainers==2.4.0",
    ),
    _real(
        "transitions_exit",
        EASY,
        ("transitions",),
        ("transitions", "0.8.1", "0.8.2"),
        "a child state is not left by a move of its parent",
        "six==1.16.0",
    ),
    Target("syn_depth", HARD, ("bugs.synthetic.launch",), "eighteen steps in order, any other starts anew"),
    Target("syn_distance", HARD, ("bugs.synthetic.budget",), "a total must come within two of a number far away"),
    Target("syn_ids", HARD, ("bugs.synthetic.ledger",), "the same wide id must be used three times"),
    Target("syn_magic", HARD, ("bugs.synthetic.device",), "a code of 32 bits, compared byte by byte"),
    Target(
        "syn_program", HARD, ("bugs.synthetic.calculator",), "one call must get a program that leaves thirty results"
    ),
    Target(
        "syn_quantity", HARD, ("bugs.synthetic.meter",), "a count must come to five thousand, and is often set back"
    ),
    Target("syn_two_faults", HARD, ("bugs.synthetic.store",), "a commit is lost while two of six faults last"),
    Target("syn_words", HARD, ("bugs.synthetic.shell",), "three words that only the program knows, in order"),
)


def target_named(name: str) -> Target:
    """The target of that name.

    Raises:
        KeyError: there is none.
    """
    return {target.name: target for target in TARGETS}[name]
